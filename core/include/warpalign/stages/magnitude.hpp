// Stage: the magnitude of a half spectrum, centred.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class Magnitude;
}

/// What a MagnitudePlan is made for.
struct MagnitudeSpec {
  Shape image;         ///< of the real image whose spectrum it is; depth 1
  float exponent = 1;  ///< the magnitude is raised to this power; > 0
};

/// Computes |F|^exponent of a half spectrum, with v = 0 in the middle row:
/// output(u, (v + height / 2) mod height), with integer division. Columns keep their order,
/// u = 0 ... width / 2: the other half plane of a real image's spectrum is the mirror image
/// (registration paper, section 2). Input c32, output f32, both of shape (width / 2 + 1, height).
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API MagnitudePlan {
 public:
  /// Compiles the kernel.
  MagnitudePlan(const Device& device, const MagnitudeSpec& spec);
  /// Enqueues the computation.
  void execute(Stream& stream, const Image& spectrum, Image& magnitude) const;

 private:
  Device device_;
  MagnitudeSpec spec_;
  std::shared_ptr<backend::Magnitude> kernel_;
};

}  // namespace warpalign
