// Stage: histograms of the gradients about places of images.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class Descriptors;
}

/// A place of an octave's image, which must exist, and what surrounds it.
struct FeaturePlace {
  std::int32_t plane = 0, image = 0;
  float x = 0, y = 0;  ///< in pixels of the plane
  float sigma = 0;     ///< the size of what is there, in pixels; 1 or more
  float radians = 0;   ///< the direction that counts as 0
};

struct DescriptorsSpec {
  std::vector<Shape> planes;  ///< of each image of the octave, as OctavePlan stores them
};

/// Which places of a list an execution is about.
struct PlaceRange {
  std::int64_t first = 0, count = 0;
};

/// Main directions and descriptors after Lowe (2004), the values of which are replaced by their
/// roots (Arandjelovic & Zisserman 2012). Gradients are taken from a grid of 20 x 20 samples about
/// the place, at the nearest pixel of each; pixels at the edges have none.
class WARPALIGN_API DescriptorsPlan {
 public:
  /// The number of values of a descriptor: eight directions in 4 x 4 cells.
  static constexpr std::int64_t dimensions = 128;
  /// The most main directions of a place.
  static constexpr std::int64_t max_directions = 2;
  /// Stands for a direction that there is none of.
  static constexpr float no_direction = 100;

  DescriptorsPlan(const Device& device, const DescriptorsSpec& spec);
  /// In which directions, in radians, the gradients about a place mostly point: at most two, that
  /// of the highest peak first, with no_direction for those that are missing. The directions of
  /// place i are floats 2 i and 2 i + 1 of `radians`. `places`: FeaturePlace, of which the radians
  /// do not matter.
  void find_directions(Stream& stream, const Buffer& octave, const Buffer& places,
                       const PlaceRange& range, Buffer& radians) const;
  /// The descriptor of place i, of length 1, is row i of `descriptors`, which are floats.
  void describe(Stream& stream, const Buffer& octave, const Buffer& places, const PlaceRange& range,
                Buffer& descriptors) const;

 private:
  void check(const Stream& stream, const Buffer& octave, const Buffer& places,
             const PlaceRange& range) const;
  Device device_;
  DescriptorsSpec spec_;
  std::shared_ptr<backend::Descriptors> kernel_;
  Buffer planes_;
};

}  // namespace warpalign

namespace warpalign::backend {

class Descriptors : public Stage {
 public:
  using Setup = DescriptorsSpec;

  /// `planes`: first pixel, width and height of each plane, as int32.
  virtual void enqueue_directions(Queue& queue, const Memory& octave, const Memory& planes,
                                  const Memory& places, const PlaceRange& range,
                                  Memory& radians) = 0;
  virtual void enqueue_descriptors(Queue& queue, const Memory& octave, const Memory& planes,
                                   const Memory& places, const PlaceRange& range,
                                   Memory& descriptors) = 0;
};

}  // namespace warpalign::backend
