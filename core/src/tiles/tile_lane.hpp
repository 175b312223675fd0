// A lane, which processes one tile after the other, concurrently with other lanes.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/tiles.hpp>

#include <cstddef>
#include <list>
#include <optional>

namespace warpalign::detail {

/// The points at which the spline is evaluated: a transform or coordinates.
struct Points {
  const HomogeneousMatrix* transform = nullptr;
  const float* coordinates = nullptr;  ///< used if `transform` is null
};

/// The device memory of the points per pixel of the output, in bytes.
[[nodiscard]] std::size_t bytes_of_point(const ResampleSpec& spec, const Points& points) noexcept;

/// The whole arrays in host memory.
struct HostArrays {
  const std::byte* image = nullptr;
  Points points;
  std::byte* output = nullptr;
};

class TileLane {
 public:
  TileLane(const Device& device, const ResampleSpec& spec);

  /// Computes a tile and stores its pixels in `own`. The lane's plans take at most `bytes` of
  /// device memory. On a GPU, transfers pass through pinned memory of the lane, unless the lane is
  /// `alone`: with pageable memory the device's runtime would use its own buffer, for one lane at a
  /// time.
  void run(const Tile& tile, const Region& own, const HostArrays& arrays, std::size_t bytes,
           bool alone);
  /// Frees all memory.
  void clear() noexcept;

 private:
  /// A plan with its input and output images.
  struct Work {
    Work(const Device& device, const ResampleSpec& made_for, bool at_points);

    ResampleSpec spec;
    Image image;
    Image output;
    std::optional<Image> coordinates;
    ResamplePlan plan;
    std::size_t bytes = 0;
  };

  Work& work_for(const Tile& tile, const Points& points, std::size_t bytes);
  void upload_samples(const Tile& tile, const std::byte* image, Image& samples, bool direct);
  void upload_coordinates(const Tile& tile, const float* coordinates, Image& target, bool direct);
  void download_pixels(const Tile& tile, const Region& own, const Image& pixels, std::byte* output,
                       bool direct);
  [[nodiscard]] std::byte* staging(std::size_t bytes);

  Device device_;
  ResampleSpec spec_;
  Stream stream_;
  std::list<Work> kept_;  ///< the most recently used first
  std::optional<HostBuffer> staging_;
};

}  // namespace warpalign::detail
