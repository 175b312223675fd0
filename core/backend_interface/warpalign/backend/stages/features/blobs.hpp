// Stage: extrema of differences of Gaussians.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class Blobs;
}

/// An extremum of the difference between neighbouring images of an octave.
struct Blob {
  std::int32_t octave = 0;  ///< the caller's number of the octave
  std::int32_t plane = 0;
  std::int32_t image = 0;  ///< the less smoothed image of the two
  float x = 0, y = 0;      ///< in pixels of the plane
  float scale = 0;         ///< `image` with a fraction, by interpolation between images
  float strength = 0;      ///< the absolute value of the difference
};

struct BlobsSpec {
  std::vector<Shape> planes;     ///< of each image of the octave, as OctavePlan stores them
  std::int64_t images = 6;       ///< number of images of the octave, at least 4
  std::int64_t capacity = 1;     ///< number of blobs that the buffer can contain
  float least_contrast = 0.02F;  ///< smallest strength, as a fraction of the plane's deviation
};

/// Detects blobs (Lowe 2004): extrema of differences of neighbouring images among their 26
/// neighbours in space and scale. Ignores extrema along edges (a ratio of principal curvatures
/// above 10) and within five pixels of an edge of the plane. Positions are vertices of parabolas
/// along each axis.
class WARPALIGN_API BlobsPlan {
 public:
  BlobsPlan(const Device& device, const BlobsSpec& spec);
  /// Computes the standard deviation of image 0 of each plane, from every eighth pixel along both
  /// axes. `deviations` has room for one float per plane.
  void measure(Stream& stream, const Buffer& octave, Buffer& deviations) const;
  /// Appends blobs to the list, in any order. `count` (an int32) grows by the number of detected
  /// blobs, even if `blobs`, which has room for `capacity`, is full.
  void execute(Stream& stream, const Buffer& octave, const Buffer& deviations, std::int32_t number,
               Buffer& count, Buffer& blobs) const;

 private:
  Device device_;
  BlobsSpec spec_;
  std::shared_ptr<backend::Blobs> kernel_;
  Buffer planes_;
};

}  // namespace warpalign

namespace warpalign::backend {

class Blobs : public Stage {
 public:
  using Setup = BlobsSpec;

  /// `planes`: first pixel, width and height of each plane, as int32.
  virtual void enqueue_deviations(Queue& queue, const Memory& octave, const Memory& planes,
                                  Memory& deviations) = 0;
  virtual void enqueue(Queue& queue, const Memory& octave, const Memory& planes,
                       const Memory& deviations, std::int32_t number, Memory& count,
                       Memory& blobs) = 0;
};

}  // namespace warpalign::backend
