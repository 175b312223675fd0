// Resampling of arrays that are larger than a device's memory: independent tiles of the output.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform.hpp>

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

/// A part of an output that is resampled by itself.
struct Tile {
  Region output;  ///< which part of the output
  /// The samples that it needs, prefilter included. Under `grid_wrap` a region may extend beyond an
  /// axis' last sample, and then goes on with its first one; otherwise it lies within the image.
  Region input;
  /// What lies beyond the edges of `input`: the image's own mode where the tile reads beyond the
  /// image, and `mirror`, which needs no margin, where it does not.
  Boundary boundary = Boundary::mirror;
  /// From pixels of the tile to samples of `input`.
  Transform output_to_input;
  /// Under `constant`: whether no pixel lies within the image. All are then cval, whatever the one
  /// sample that `input` has.
  bool outside = false;
};

/// By how many samples the exact prefilter's input must extend beyond the coefficients that are
/// used. The filter's impulse response is h(k) = a sum of A z^|k| over its poles z (Unser,
/// "Splines: a perfect fit for signal and image processing", 1999, box 2), so what is left out
/// changes a coefficient by at most the sum of |h(k)| beyond the halo, times the change of the
/// samples there, which is at most twice the largest sample: below 2^-25 of it. 0 for degrees 0
/// and 1. Throws Error(invalid_argument) unless the degree is 0 to 5.
[[nodiscard]] WARPALIGN_API int prefilter_halo(int degree);

/// The tile for one region of the output: a pure function of its arguments. `spec` and `transform`
/// are those of the whole image, which is not limited by a device's memory; `spec.images.count` is
/// ignored. Throws Error(invalid_argument) for a wrong spec, and for a region that is not within
/// the output.
///
/// The tile resampled with `Tile::boundary` from `Tile::input` has the same pixels as the whole
/// image's output has there, within 4e-7 of the largest coefficient. (Where the value jumps, at the
/// edge of `constant` and at the seam of `wrap`, coordinates that are within rounding of the jump
/// may fall on either side of it, as they may without tiles.) Under `wrap`, a tile that reads on
/// both sides of the seam needs the whole axis; with a transform that keeps axes apart, cut tiles
/// at the seams.
[[nodiscard]] WARPALIGN_API Tile tile_of(const ResampleSpec& spec, const Transform& transform,
                                         const Region& output);

/// The same for points that are given: a tile that can be evaluated at any point from `low` to
/// `high`. Its `output_to_input` maps coordinates of the image to those of `input`; its `output` is
/// empty. Coordinates that are not finite need all samples along their axis. Throws
/// Error(invalid_argument) for a wrong spec, and where `low` is above `high`.
[[nodiscard]] WARPALIGN_API Tile tile_for_points(const ResampleSpec& spec, const Point3& low,
                                                 const Point3& high);

/// The tiles of the given shape, row by row, that cover the output; those at its end are smaller.
/// Throws Error(invalid_argument) for a wrong spec or shape.
[[nodiscard]] WARPALIGN_API std::vector<Tile> tiles(const ResampleSpec& spec,
                                                    const Transform& transform, const Shape& tile);

/// Device memory, in bytes, that resampling a tile takes: samples, coefficients, pixels, and what
/// is converted. Throws Error(invalid_argument) where the spec's degree is not 0 to 5.
[[nodiscard]] WARPALIGN_API std::size_t tile_bytes(const ResampleSpec& spec, const Tile& tile);

/// How much memory of a device resampling may take: `WARPALIGN_MAX_DEVICE_MEMORY` if it is set (a
/// number of bytes, or with K, M or G behind it of 2^10, 2^20 or 2^30 bytes), else three quarters
/// of the device's memory. Throws Error(configuration) where the variable is not such a number.
[[nodiscard]] WARPALIGN_API std::size_t max_device_memory(const Device& device);

/// The largest tiles that need no more than `max_bytes` of memory each, and no allocation above
/// `max_allocation` (0: any); one tile where everything fits. Throws Error(out_of_memory), with the
/// bytes that would be needed, where no tile does.
[[nodiscard]] WARPALIGN_API std::vector<Tile> tiles_within(const ResampleSpec& spec,
                                                           const Transform& transform,
                                                           std::size_t max_bytes,
                                                           std::size_t max_allocation = 0);

/// Resamples arrays of host memory of any size, by tiles where the device's memory is too small for
/// all at once. Keeps plans and memory between calls; an object is used by one thread at a time.
///
/// Results are those of ResamplePlan, within what tile_of() says.
class WARPALIGN_API TiledResampler {
 public:
  /// `max_bytes`: of device memory; 0 for max_device_memory(). `spec.images.count` must be 1.
  /// Throws Error(invalid_argument) for a wrong spec.
  TiledResampler(const Device& device, const ResampleSpec& spec, std::size_t max_bytes = 0);
  TiledResampler(TiledResampler&&) noexcept;
  TiledResampler& operator=(TiledResampler&&) noexcept;
  ~TiledResampler();

  /// `image` and `output`: dense pixels of the spec's types and shapes. Where the device runs out
  /// of memory within the limit, because others use it too, smaller tiles are tried. Returns the
  /// number of tiles. Throws what tiles_within() and ResamplePlan throw.
  std::size_t execute(const void* image, const Transform& output_to_input, void* output);
  /// The same at points that are given, as many for each dimension as the output has pixels: all x,
  /// then all y, then all z. The output is cut into boxes, each of which needs the samples between
  /// its points, so that points that are neighbours should be near each other. Under `wrap` and
  /// `grid_wrap`, coordinates beyond the image, and with `grid_wrap` near its edges, are rounded to
  /// single precision once more. Throws as the other form does, and Error(invalid_argument) for
  /// another number of coordinates.
  std::size_t execute(const void* image, std::span<const float> coordinates, void* output);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
