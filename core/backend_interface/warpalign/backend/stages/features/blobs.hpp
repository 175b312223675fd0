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

/// A place at which a difference between neighbouring images of an octave is an extremum.
struct Blob {
  std::int32_t octave = 0;  ///< as the caller numbers it
  std::int32_t plane = 0;
  std::int32_t image = 0;  ///< the less smoothed one of the two
  float x = 0, y = 0;      ///< in pixels of the plane
  float scale = 0;         ///< as `image`, between images
  float strength = 0;      ///< the absolute value of the difference
};

struct BlobsSpec {
  std::vector<Shape> planes;     ///< of each image of the octave, as OctavePlan stores them
  std::int64_t images = 6;       ///< of the octave, at least 4
  std::int64_t capacity = 1;     ///< how many blobs there is room for
  float least_contrast = 0.02F;  ///< of a plane's deviation; weaker extrema are left out
};

/// Blobs after Lowe (2004): differences of neighbouring images that none of their 26 neighbours in
/// space and scale exceeds, that are not along edges (a ratio of principal curvatures of at most
/// 10), and not within five pixels of an edge of the plane. Places are those of the vertices of
/// parabolas along each axis.
class WARPALIGN_API BlobsPlan {
 public:
  BlobsPlan(const Device& device, const BlobsSpec& spec);
  /// The standard deviation of image 0 of each plane, from every eighth pixel along both axes;
  /// `deviations` has room for a float for each plane.
  void measure(Stream& stream, const Buffer& octave, Buffer& deviations) const;
  /// Adds blobs, in any order, to those that are there. `count`, an int32, grows by how many there
  /// are, even if not all have found room in `blobs`, which has room for `capacity` of them.
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
