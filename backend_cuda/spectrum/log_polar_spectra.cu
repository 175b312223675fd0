// Stage: whitened log-polar spectra of many images.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 8
#define ROWS 32
#include "shared/log_polar_spectra.cl"

class LogPolarSpectraStage final : public backend::LogPolarSpectra {
 public:
  LogPolarSpectraStage(const Context& context, const LogPolarSpectraSpec& spec)
      : site_{context, "log_polar_spectra"},
        columns_(extent(RealFftPlan::half_spectrum(spec.image).width, site_)),
        height_(extent(spec.image.height, site_)),
        radius_count_(extent(spec.output.width, site_)),
        angle_count_(extent(spec.output.height, site_)),
        half_exponent_(0.5f * spec.exponent),
        u_end_(0.5f * static_cast<float>(spec.image.width)),
        v_end_(0.5f * static_cast<float>(spec.image.height)),
        groups_(static_cast<unsigned>(divide_up(spec.output.width, COLUMNS) * spec.images)) {
    load(&log_polar_spectra, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& spectra, const backend::Memory& radii,
               const backend::Memory& directions, backend::Memory& output) override {
    launch_dependent(site_, queue, dim3(groups_), dim3(COLUMNS, ROWS), &log_polar_spectra,
                 data<float>(spectra), columns_, height_, half_exponent_, data<float>(radii),
                 radius_count_, data<float>(directions), angle_count_, u_end_, v_end_,
                 data<float>(output));
  }

 private:
  CallSite site_;
  int columns_, height_, radius_count_, angle_count_;
  float half_exponent_, u_end_, v_end_;
  unsigned groups_;
};

}  // namespace

template <>
std::unique_ptr<backend::LogPolarSpectra> make(const Context& context,
                                               const LogPolarSpectraSpec& spec) {
  return std::make_unique<LogPolarSpectraStage>(context, spec);
}

}  // namespace warpalign::cuda
