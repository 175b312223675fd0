// Stage: images of several sizes, each smoothed more and more.
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

/// One Gaussian for each image of the octave.
struct OctaveSpec {
  std::vector<Shape> planes;   ///< of the source; depth 1
  std::int64_t step = 1;       ///< 2: every second pixel along both axes is taken
  std::vector<double> sigmas;  ///< in pixels of the octave; 0: not smoothed
};

/// An octave of the scale space of Lowe (2004), of many planes at once: image 0 is every `step`-th
/// pixel of the source, smoothed by the first Gaussian, and each of the others is the one before
/// it, smoothed by one more. Gaussians end at 3 sigma, rounded up; beyond its edges an image has
/// the values there.
///
/// The planes of an image lie one behind the other, and so do the images of an octave.
class WARPALIGN_API OctavePlan {
 public:
  OctavePlan(const Device& device, const OctaveSpec& spec);
  /// `source`: floats, of one image or of several, of which `image` is taken. `between` is
  /// scratch memory.
  void execute(Stream& stream, const Buffer& source, std::int64_t image, Buffer& between,
               Buffer& octave) const;

  /// The planes of each image of the octave.
  [[nodiscard]] static std::vector<Shape> planes_of(const OctaveSpec& spec);
  /// The size of all images together.
  [[nodiscard]] static std::size_t bytes_of(const OctaveSpec& spec);
  /// The size of what is between the smoothing of rows and that of columns.
  [[nodiscard]] static std::size_t bytes_between(const OctaveSpec& spec);

 private:
  Device device_;
  OctaveSpec spec_;
  std::shared_ptr<backend::Octave> kernel_;
  Buffer source_planes_, planes_, weights_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// To how many pixels on both sides of its middle a Gaussian reaches.
[[nodiscard]] WARPALIGN_API int octave_radius(double sigma) noexcept;

struct OctaveMemory {
  const Memory& source_planes;  ///< first pixel, width and height of each, as int32
  const Memory& planes;         ///< those of the octave, likewise
  /// Of all Gaussians one behind the other, each from one end to the other.
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
