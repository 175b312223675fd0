// Stage: whitened log-polar spectra of many images.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class LogPolarSpectra;
}

struct LogPolarSpectraSpec {
  Shape image;              ///< of each real image; depth 1
  Shape output;             ///< width = number of radii, height = number of angles; depth 1
  std::int64_t images = 1;  ///< number of spectra, stacked along the depth
  float exponent = 1;       ///< magnitudes are raised to this power; > 0
};

/// Combines MagnitudePlan, LogPolarPlan and RadialWhiteningPlan, for a stack of half spectra (c32)
/// in one launch. Output: f32, stacked.
class WARPALIGN_API LogPolarSpectraPlan {
 public:
  LogPolarSpectraPlan(const Device& device, const LogPolarSpectraSpec& spec);
  void execute(Stream& stream, const Image& spectra, Image& output) const;

 private:
  Device device_;
  LogPolarSpectraSpec spec_;
  std::shared_ptr<backend::LogPolarSpectra> kernel_;
  Buffer radii_, directions_;
};

}  // namespace warpalign

namespace warpalign::backend {

class LogPolarSpectra : public Stage {
 public:
  using Setup = LogPolarSpectraSpec;

  /// `radii` and `directions`: as LogPolarPoints.
  virtual void enqueue(Queue& queue, const Memory& spectra, const Memory& radii,
                       const Memory& directions, Memory& output) = 0;
};

}  // namespace warpalign::backend
