// Stage: log-polar resampling of a centred spectrum magnitude.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class LogPolar;
}

/// What a LogPolarPlan is made for.
struct LogPolarSpec {
  Shape image;   ///< of the real image whose spectrum is resampled; depth 1
  Shape output;  ///< width = number of radii, height = number of angles; depth 1
};

/// The geometry of the grid, from equations 11 to 13 of the registration paper.
struct LogPolarGrid {
  double angle_step = 0;  ///< pi / angles, in radians per row (equation 11)
  double log_base = 0;    ///< ln b, with b^radii = size (equation 12)
  double size = 0;        ///< the larger side of the image: radii are in cycles per `size` pixels
};

/// Resamples a spectrum's magnitude to a log-polar grid by bilinear interpolation: output(i, j) is
/// the magnitude at radius b^i and angle j angle_step - pi / 2 (registration paper, equations 11 to
/// 13), and 0 beyond the Nyquist frequency of either axis. The angles cover the half plane u >= 0,
/// which is all that the half spectrum of a real image contains; rows wrap around (period pi). The
/// radius is a true frequency, also for images that are not square: u = b^i cos(angle) width / size
/// and v = b^i sin(angle) height / size. Input: f32, the output of MagnitudePlan. Output: f32, of
/// the spec's shape `output`.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API LogPolarPlan {
 public:
  /// Compiles the kernel and computes the grid's radii and directions.
  LogPolarPlan(const Device& device, const LogPolarSpec& spec);
  /// Enqueues the resampling.
  void execute(Stream& stream, const Image& magnitude, Image& output) const;

  /// The geometry of the grid for a spec.
  [[nodiscard]] static LogPolarGrid grid(const LogPolarSpec& spec);

 private:
  Device device_;
  LogPolarSpec spec_;
  std::shared_ptr<backend::LogPolar> kernel_;
};

}  // namespace warpalign
