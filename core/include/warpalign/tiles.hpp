// Resampling of arrays that do not fit into a device's memory, by independent tiles of the output.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/resample.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpalign {

/// A box of pixels.
struct Region {
  std::array<std::int64_t, 3> begin{};  ///< the first pixel: x, y, z
  Shape shape;                          ///< the extents
  friend bool operator==(const Region&, const Region&) = default;
};

/// A part of an output that can be resampled independently.
struct Tile {
  Region output;  ///< the part of the output
  /// The samples that the tile needs, including those for the prefilter. With `grid_wrap` a region
  /// may extend beyond the last sample of an axis and continue with the first one. With all other
  /// modes it lies within the image.
  Region input;
  /// The boundary mode for `input`: that of the image if the tile reads beyond the image's edges,
  /// otherwise `mirror`, which needs no margin.
  Boundary boundary = Boundary::mirror;
  /// The transform from pixels of the tile to samples of `input`.
  HomogeneousMatrix output_to_input;
  /// With `constant`: whether the whole tile lies outside the image. All its pixels are then cval,
  /// and the single sample of `input` does not matter.
  bool outside = false;
};

/// The number of samples by which the exact prefilter's input must extend beyond the coefficients
/// that are used; 0 for degrees 0 and 1. Throws Error(invalid_argument) unless the degree is 0 to
/// 5.
///
/// The filter's impulse response is h(k) = a sum of A z^|k| over its poles z (Unser, "Splines: a
/// perfect fit for signal and image processing", 1999, box 2). Samples beyond the halo change a
/// coefficient by at most the sum of |h(k)| there times twice the largest sample, which is below
/// 2^-25 of the largest sample.
[[nodiscard]] WARPALIGN_API int prefilter_halo(int degree);

/// The tile for one region of the output: a pure function of its arguments. `spec` and `transform`
/// describe the whole image, which may be larger than a device's memory; `spec.images.count` is
/// ignored. Throws Error(invalid_argument) for a wrong spec, and for a region that is not within
/// the output.
///
/// If you resample `Tile::input` with `Tile::boundary`, the pixels equal those of the whole image's
/// output, within 4e-7 of the largest coefficient. An exception are discontinuities, at the edge of
/// `constant` and at the seam of `wrap`: coordinates within rounding of a discontinuity may fall on
/// either side of it, as they may without tiles. With `wrap`, a tile that reads on both sides of
/// the seam needs the whole axis. If the transform does not mix the axes, avoid this by cutting
/// tiles at the seams.
[[nodiscard]] WARPALIGN_API Tile tile_of(const ResampleSpec& spec,
                                         const HomogeneousMatrix& transform, const Region& output);

/// The tile for evaluation at any point of the box from `low` to `high`, in samples. Its
/// `output_to_input` maps coordinates of the image to coordinates of `input`; its `output` is
/// empty. A coordinate that is not finite requires all samples along its axis. Throws
/// Error(invalid_argument) for a wrong spec, and if `low` is above `high`.
[[nodiscard]] WARPALIGN_API Tile tile_for_points(const ResampleSpec& spec, const Point3& low,
                                                 const Point3& high);

/// Covers the output with tiles of the given shape, row by row. The last tiles along an axis may be
/// smaller. Throws Error(invalid_argument) for a wrong spec or shape.
[[nodiscard]] WARPALIGN_API std::vector<Tile> tiles(const ResampleSpec& spec,
                                                    const HomogeneousMatrix& transform,
                                                    const Shape& tile);

/// The device memory, in bytes, that the resampling of a tile takes: samples, coefficients, pixels,
/// and memory for type conversions. Throws Error(invalid_argument) unless the degree is 0 to 5.
[[nodiscard]] WARPALIGN_API std::size_t tile_bytes(const ResampleSpec& spec, const Tile& tile);

/// How much device memory resampling may take, in bytes: the environment variable
/// `WARPALIGN_MAX_DEVICE_MEMORY` if it is set, else three quarters of the device's memory. The
/// variable is a number of bytes, with an optional suffix K, M or G for 2^10, 2^20 or 2^30. Throws
/// Error(configuration) if the variable has another form.
[[nodiscard]] WARPALIGN_API std::size_t max_device_memory(const Device& device);

/// The largest tiles that need at most `max_bytes` of memory each, and no allocation above
/// `max_allocation` bytes (0: unlimited). Returns one tile if the whole output fits. Throws
/// Error(out_of_memory), which says how many bytes are needed, if not even the smallest tile fits.
[[nodiscard]] WARPALIGN_API std::vector<Tile> tiles_within(const ResampleSpec& spec,
                                                           const HomogeneousMatrix& transform,
                                                           std::size_t max_bytes,
                                                           std::size_t max_allocation = 0);

/// Resamples arrays of any size in host memory. If the device's memory is too small for the whole
/// array, the resampler divides the output into tiles. It keeps plans and memory between calls.
/// Only one thread at a time may use it.
///
/// Results are those of ResamplePlan, within the tolerance of tile_of().
class WARPALIGN_API TiledResampler {
 public:
  /// `max_bytes`: limit of the device memory in bytes; 0: max_device_memory(). `spec.images.count`
  /// must be 1. Throws Error(invalid_argument) for a wrong spec.
  TiledResampler(const Device& device, const ResampleSpec& spec, std::size_t max_bytes = 0);
  TiledResampler(TiledResampler&&) noexcept;
  TiledResampler& operator=(TiledResampler&&) noexcept;
  ~TiledResampler();

  /// Evaluates the spline at output_to_input(output point). `image` and `output` are dense pixels
  /// of the spec's types and shapes. If the device runs out of memory below the limit, because
  /// other programs use it too, the resampler tries smaller tiles. Returns the number of tiles.
  /// Throws as tiles_within() and ResamplePlan do.
  std::size_t execute(const void* image, const HomogeneousMatrix& output_to_input, void* output);
  /// Evaluates the spline at the given coordinates, in samples: all x, then all y, then all z, each
  /// with one value per pixel of the output. The resampler cuts the output into boxes, and uploads
  /// for each box the samples that enclose its points, so neighbouring pixels should have nearby
  /// points. With `wrap` and `grid_wrap`, coordinates beyond the image (and with `grid_wrap` near
  /// its edges) are rounded to single precision a second time. Throws as the other overload does,
  /// and Error(invalid_argument) for a wrong number of coordinates.
  std::size_t execute(const void* image, std::span<const float> coordinates, void* output);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
