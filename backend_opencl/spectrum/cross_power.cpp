// Stage: the normalised cross-power spectrum, in one pass for one or two slices.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "cross_power";

std::string options_for(const CrossPowerSpec& spec, bool simd) {
  std::string options;
  if (spec.sigma > 0) options += " -D WEIGHTED";
  if (spec.with_rotated_180) options += " -D WITH_ROTATED_180";
  if (spec.image.depth > 1 && !simd) options += " -D VOLUME";
  if (backend::images_of(spec) > 1 && !simd) options += " -D STACK";
  return options;
}

/// The number of rows in the spectra of all images, or in that of a volume.
std::int64_t rows_of(const CrossPowerSpec& spec, std::int64_t images) {
  return spec.image.height * spec.image.depth * images;
}

/// Volumes and stacks get patches, because they may have more rows than a grid may.
Grid grid_for(const Context& context, const CrossPowerSpec& spec) {
  const Shape half = RealFftPlan::half_spectrum(spec.image);
  const std::int64_t rows = rows_of(spec, backend::images_of(spec));
  if (context.has_vectors()) {
    const auto across = static_cast<std::size_t>(divide_up(half.width, WA_CROSS_POWER_COLUMNS));
    const auto down = static_cast<std::size_t>(divide_up(rows, WA_CROSS_POWER_ROWS));
    return {{across, down}, {1, 1}};
  }
  return rows > half.height ? patches(context, half.width, rows)
                            : covering(context, half.width, rows);
}

/// 1 / (2 sigma^2), the argument of wa_gaussian_weight.
cl_float falloff_of(float sigma) {
  const double wide = sigma;
  return sigma > 0 ? static_cast<cl_float>(1 / (2 * wide * wide)) : 0;
}

class CrossPower final : public backend::CrossPower {
 public:
  CrossPower(Context& context, const CrossPowerSpec& spec)
      : width_(extent(spec.image.width, context.call_site(stage))),
        columns_(width_ / 2 + 1),
        height_(extent(spec.image.height, context.call_site(stage))),
        depth_(extent(spec.image.depth, context.call_site(stage))),
        first_rows_(extent(rows_of(spec, spec.first_images), context.call_site(stage))),
        second_rows_(extent(rows_of(spec, spec.second_images), context.call_site(stage))),
        falloff_(falloff_of(spec.sigma)),
        grid_(grid_for(context, spec)),
        kernel_(context, stage,
                context.has_vectors() ? kernels::cross_power_cpu : kernels::cross_power,
                "cross_power", options_for(spec, context.has_vectors())) {}

  void enqueue(backend::Queue& queue, const backend::Memory& a, const backend::Memory& b,
               backend::Memory& output) override {
    kernel_.launch(queue_of(queue), grid_, a, b, output, width_, columns_, height_, depth_,
                   first_rows_, second_rows_, falloff_);
  }

 private:
  cl_int width_, columns_, height_, depth_, first_rows_, second_rows_;
  cl_float falloff_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::CrossPower> make(Context& context, const CrossPowerSpec& spec) {
  return std::make_unique<CrossPower>(context, spec);
}

}  // namespace warpalign::opencl
