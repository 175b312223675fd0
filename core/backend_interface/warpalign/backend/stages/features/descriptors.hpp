// Stage: gradient histograms around keypoints.
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

/// A keypoint in an existing image of an octave.
struct Keypoint {
  std::int32_t plane = 0, image = 0;
  float x = 0, y = 0;  ///< in pixels of the plane
  float sigma = 0;     ///< the size of the feature, in pixels; 1 or more
  float radians = 0;   ///< its orientation, which the descriptor is relative to
};

struct DescriptorsSpec {
  std::vector<Shape> planes;  ///< of each image of the octave, as OctavePlan stores them
};

/// A range of keypoints of a list.
struct KeypointRange {
  std::int64_t first = 0, count = 0;
};

/// Computes the orientations and SIFT descriptors of keypoints (Lowe 2004), with the square root of
/// each descriptor value (RootSIFT, Arandjelovic & Zisserman 2012). It samples gradients on a grid
/// of 20 x 20 points around the keypoint, each at the nearest pixel; pixels at the edges have no
/// gradient.
class WARPALIGN_API DescriptorsPlan {
 public:
  /// The number of values of a descriptor: eight directions in 4 x 4 cells.
  static constexpr std::int64_t dimensions = 128;
  /// The largest number of orientations of a keypoint.
  static constexpr std::int64_t max_orientations = 2;
  /// Marks a missing orientation.
  static constexpr float no_orientation = 100;

  DescriptorsPlan(const Device& device, const DescriptorsSpec& spec);
  /// Finds the dominant gradient orientations around each keypoint, in radians: at most two, the
  /// highest peak first, and no_orientation for a missing one. Floats 2 i and 2 i + 1 of `radians`
  /// are the orientations of keypoint i. `keypoints`: an array of Keypoint, whose radians are
  /// ignored.
  void find_orientations(Stream& stream, const Buffer& octave, const Buffer& keypoints,
                         const KeypointRange& range, Buffer& radians) const;
  /// Computes descriptors of length 1. Row i of `descriptors` (floats) is that of keypoint i.
  void describe(Stream& stream, const Buffer& octave, const Buffer& keypoints,
                const KeypointRange& range, Buffer& descriptors) const;

 private:
  void check(const Stream& stream, const Buffer& octave, const Buffer& keypoints,
             const KeypointRange& range) const;
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
                                  const Memory& keypoints, const KeypointRange& range,
                                  Memory& radians) = 0;
  virtual void enqueue_descriptors(Queue& queue, const Memory& octave, const Memory& planes,
                                   const Memory& keypoints, const KeypointRange& range,
                                   Memory& descriptors) = 0;
};

}  // namespace warpalign::backend
