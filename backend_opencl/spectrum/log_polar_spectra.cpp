// Stage: whitened log-polar spectra of many images. On CPUs the powers of the magnitudes are
// computed first, in the lanes of vectors.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "log_polar_spectra";
constexpr std::size_t columns_of_group = 8;
constexpr std::size_t max_rows = 32;

/// The powers of the magnitudes of all images.
class Powers {
 public:
  Powers(Context& context, const LogPolarSpectraSpec& spec)
      : columns_(extent(RealFftPlan::half_spectrum(spec.image).width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        rows_(extent(spec.image.height * spec.images, context.call_site(stage))),
        half_exponent_(0.5F * spec.exponent),
        powers_(make_buffer(
            context,
            static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) * sizeof(cl_float),
            stage)),
        kernel_(context, stage, kernels::magnitude, "magnitude", "-D SIMD"),
        grid_(covering(context, divide_up(columns_, 16), rows_)) {}

  const Handle<cl_mem>& compute(cl_command_queue queue, const backend::Memory& spectra) {
    scratch_guard_.enter(queue, stage);
    kernel_.launch(queue, grid_, spectra, powers_, columns_, height_, rows_, half_exponent_);
    return powers_;
  }

 private:
  cl_int columns_, height_, rows_;
  cl_float half_exponent_;
  Handle<cl_mem> powers_;
  Kernel kernel_;
  Grid grid_;
  ScratchGuard scratch_guard_;
};

class LogPolarSpectra final : public backend::LogPolarSpectra {
 public:
  LogPolarSpectra(Context& context, const LogPolarSpectraSpec& spec)
      : columns_(extent(RealFftPlan::half_spectrum(spec.image).width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        radius_count_(extent(spec.output.width, context.call_site(stage))),
        angle_count_(extent(spec.output.height, context.call_site(stage))),
        half_exponent_(0.5F * spec.exponent),
        u_end_(0.5F * static_cast<float>(spec.image.width)),
        v_end_(0.5F * static_cast<float>(spec.image.height)),
        rows_(std::clamp<std::size_t>(reduction_group(context) / columns_of_group, 1, max_rows)),
        groups_((static_cast<std::size_t>(spec.output.width) + columns_of_group - 1) /
                columns_of_group * static_cast<std::size_t>(spec.images)),
        kernel_(context, stage, kernels::log_polar_spectra, "log_polar_spectra",
                options(context.has_vectors())) {
    if (context.has_vectors()) powers_.emplace(context, spec);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& spectra, const backend::Memory& radii,
               const backend::Memory& directions, backend::Memory& output) override {
    const cl_command_queue commands = queue_of(queue);
    if (powers_) {
      launch(commands, powers_->compute(commands, spectra), radii, directions, output);
    } else {
      launch(commands, spectra, radii, directions, output);
    }
  }

 private:
  template <class Spectra>
  void launch(cl_command_queue commands, const Spectra& spectra, const backend::Memory& radii,
              const backend::Memory& directions, backend::Memory& output) {
    kernel_.launch(commands, {{groups_ * columns_of_group, rows_}, {columns_of_group, rows_}},
                   spectra, columns_, height_, half_exponent_, radii, radius_count_, directions,
                   angle_count_, u_end_, v_end_, output);
  }
  [[nodiscard]] std::string options(bool of_powers) const {
    return int_option("COLUMNS", static_cast<int>(columns_of_group)) +
           int_option("ROWS", static_cast<int>(rows_)) + (of_powers ? " -D POWERS" : "");
  }

  cl_int columns_, height_, radius_count_, angle_count_;
  cl_float half_exponent_, u_end_, v_end_;
  std::size_t rows_, groups_;
  Kernel kernel_;
  std::optional<Powers> powers_;  // on CPUs
};

}  // namespace

template <>
std::unique_ptr<backend::LogPolarSpectra> make(Context& context, const LogPolarSpectraSpec& spec) {
  return std::make_unique<LogPolarSpectra>(context, spec);
}

}  // namespace warpalign::opencl
