// The scale spaces of many planes and their strongest blobs.
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

/// Ensures a size of at least `bytes`. The contents are lost if the buffer has to grow.
void reserve(const Device& device, std::optional<Buffer>& buffer, std::size_t bytes);

/// A blob with one of the main directions of the gradients around it.
struct OrientedBlob {
  Blob blob;
  float radians = 0;
};

/// The buffers of scale spaces, reused from one to the next. They only grow.
struct ScaleSpaceMemory {
  std::optional<Buffer> planes, between, deviations, blobs, places, radians;
  std::vector<std::optional<Buffer>> octaves;
  std::int64_t room_for_blobs = 0;
  // Host copies.
  std::vector<Blob> found, strongest;
  std::vector<std::vector<Blob>> of_planes;
  std::vector<OrientedBlob> directed, of_octaves;
  std::vector<std::size_t> rows;
  std::vector<Keypoint> undirected_places;
  std::vector<float> directions;
};

/// The octaves of planes of given shapes (Lowe 2004): images with increasing smoothing, and half
/// the resolution in each next octave.
class ScaleSpace {
 public:
  /// `blur` is the sigma, in pixels, of the smoothing that the planes already have. `memory` must
  /// outlive the scale space.
  ScaleSpace(const Device& device, const std::vector<Shape>& planes, double blur,
             ScaleSpaceMemory& memory);

  /// Returns the strongest blobs of the planes in the memory, with their main directions: at most
  /// `most` per plane, grouped by octave. Waits for the device. The result is valid until the next
  /// call with the same memory.
  [[nodiscard]] std::vector<OrientedBlob>& strongest(Stream& stream, std::size_t most);
  /// Writes the descriptors of blobs, which must be grouped by octave, after those of the blobs
  /// already in `described`, and appends their positions to `described`.
  void describe(Stream& stream, std::span<const OrientedBlob> blobs,
                std::vector<Keypoint>& described, Buffer& descriptors);

 private:
  struct Level {
    OctavePlan octave;
    DescriptorsPlan descriptors;
    std::vector<Shape> planes;
  };
  void add_levels(std::vector<Shape> planes, double blur);
  void build(Stream& stream);
  void ensure_capacity(std::int64_t blobs);
  std::int64_t find_blobs(Stream& stream);
  void find_strongest(Stream& stream, std::size_t most);
  void find_orientations(Stream& stream);
  void upload(Stream& stream, const std::vector<Keypoint>& places);

  Device device_;
  ScaleSpaceMemory* memory_;
  std::vector<Level> levels_;
  std::vector<BlobsPlan> blobs_;
  std::int64_t blob_capacity_ = 0;  // capacity for which blobs_ was created
  Buffer count_;
};

/// The distance between the pixels of an octave, in pixels of the plane.
[[nodiscard]] double spacing_of_octave(std::int32_t octave);

}  // namespace warpalign::detail
