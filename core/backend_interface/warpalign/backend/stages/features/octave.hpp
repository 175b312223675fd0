// Stage: octaves of the scale spaces of several images.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class Octave;
}

struct OctaveSpec {
  std::vector<Shape> planes;   ///< the planes of the source; depth 1
  std::int64_t step = 1;       ///< 2: subsample the source by 2 along both axes
  std::vector<double> sigmas;  ///< Gaussian of each image, in pixels of the octave; 0: no smoothing
};

/// Computes an octave of the scale space (Lowe 2004) of many planes at once. Image 0 is the source,
/// subsampled by `step` and smoothed by the first Gaussian. Each further image is the previous one,
/// smoothed by the next Gaussian. Gaussians are truncated at 3 sigma, rounded up; pixels beyond the
/// edges repeat the edge.
///
/// The planes of an image are stored one after the other, and so are the images of an octave.
class WARPALIGN_API OctavePlan {
 public:
  OctavePlan(const Device& device, const OctaveSpec& spec);
  /// `source`: the floats of one or more images; `image` selects one. `between`: scratch memory of
  /// bytes_between().
  void execute(Stream& stream, const Buffer& source, std::int64_t image, Buffer& between,
               Buffer& octave) const;

  /// The shapes of the planes of each image of the octave.
  [[nodiscard]] static std::vector<Shape> planes_of(const OctaveSpec& spec);
  /// The size of the octave.
  [[nodiscard]] static std::size_t bytes_of(const OctaveSpec& spec);
  /// The size of the intermediate result after the smoothing of rows.
  [[nodiscard]] static std::size_t bytes_between(const OctaveSpec& spec);

 private:
  Device device_;
  OctaveSpec spec_;
  std::shared_ptr<backend::Octave> kernel_;
  Buffer source_planes_, planes_, weights_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The radius of a truncated Gaussian in pixels.
[[nodiscard]] WARPALIGN_API int octave_radius(double sigma) noexcept;

struct OctaveMemory {
  const Memory& source_planes;  ///< first pixel, width and height of each, as int32
  const Memory& planes;         ///< the same of the octave
  /// The weights of all Gaussians, one after the other.
  const Memory& weights;
  Memory& between;  ///< as many floats as the source's planes have pixels
};

class Octave : public Stage {
 public:
  using Setup = OctaveSpec;

  virtual void enqueue(Queue& queue, const Memory& source, std::int64_t image,
                       const OctaveMemory& with, Memory& octave) = 0;
};

}  // namespace warpalign::backend
