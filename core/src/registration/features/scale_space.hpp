// The scale spaces of many planes, and the strongest blobs in them.
#pragma once

#include "device/readback.hpp"

#include <warpalign/backend/stages/features/blobs.hpp>
#include <warpalign/backend/stages/features/descriptors.hpp>
#include <warpalign/backend/stages/features/octave.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Gives `buffer` at least so many bytes. What it held is lost if it has to grow.
void reserve(const Device& device, std::optional<Buffer>& buffer, std::size_t bytes);

/// A blob, and one of the directions in which the gradients about it mostly point.
struct DirectedBlob {
  Blob blob;
  float radians = 0;
};

/// The memory of scale spaces, which is used for one after the other, and grows.
struct ScaleSpaceMemory {
  std::optional<Buffer> planes, between, deviations, blobs, places, radians;
  std::vector<std::optional<Buffer>> octaves;
  std::int64_t room_for_blobs = 0;
  // On the host.
  std::vector<Blob> found, strongest;
  std::vector<std::vector<Blob>> of_planes;
  std::vector<DirectedBlob> directed, of_octaves;
  std::vector<std::size_t> rows;
  std::vector<FeaturePlace> undirected_places;
  std::vector<float> directions;
};

/// Octaves of planes of certain shapes (Lowe 2004): images that are smoothed more and more, and in
/// the next octave have half as many pixels along both axes.
class ScaleSpace {
 public:
  /// `blur`: the sigma of the Gaussian that the planes were smoothed by already, in their pixels.
  /// The memory must outlive it.
  ScaleSpace(const Device& device, const std::vector<Shape>& planes, double blur,
             ScaleSpaceMemory& memory);

  /// The strongest blobs of the planes in the memory, with their main directions: at most
  /// `most` of each plane, ordered by octave. Waits for the device. Valid until the next call with
  /// the same memory.
  [[nodiscard]] std::vector<DirectedBlob>& strongest(Stream& stream, std::size_t most);
  /// Adds descriptors of blobs, which are ordered by octave, after those of the places that are
  /// `described` already, to which theirs are added.
  void describe(Stream& stream, std::span<const DirectedBlob> blobs,
                std::vector<FeaturePlace>& described, Buffer& descriptors);

 private:
  struct Level {
    OctavePlan octave;
    DescriptorsPlan descriptors;
    std::vector<Shape> planes;
  };
  void add_levels(std::vector<Shape> planes, double blur);
  void build(Stream& stream);
  void make_room(std::int64_t blobs);
  std::int64_t find_blobs(Stream& stream);
  void find_strongest(Stream& stream, std::size_t most);
  void find_directions(Stream& stream);
  void upload(Stream& stream, const std::vector<FeaturePlace>& places);

  Device device_;
  ScaleSpaceMemory* memory_;
  std::vector<Level> levels_;
  std::vector<BlobsPlan> blobs_;
  std::int64_t room_for_blobs_ = 0;  // of these plans
  Buffer count_;
};

/// How far apart the pixels of an octave are, in pixels of the plane.
[[nodiscard]] double spacing_of_octave(std::int32_t octave);

}  // namespace warpalign::detail
