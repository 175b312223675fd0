// Arrays with missing samples: which samples are known, and values in place of the others.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/export.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign {

/// Which samples of an array are known.
struct KnownSamples {
  std::vector<std::uint8_t>
      known;                 ///< for each sample: 1 if it is known, 0 if it is missing; dense
  std::int64_t missing = 0;  ///< the number of missing samples
};

/// The share of a spline's support that must be known where a warp has a value. Elsewhere the
/// result is missing. The share is the mask of the known samples, interpolated with the B-spline
/// itself, whose weights are not negative and have the sum 1.
inline constexpr double min_known_share = 0.5;

/// Whether a sample of this type can have the value: an integer within the type's range; for
/// floating-point types any value, with NaN and infinities, that the type rounds to itself. False
/// for c32.
[[nodiscard]] WARPALIGN_API bool can_hold(PixelType type, double value) noexcept;

/// Stores a value that the type can hold at `sample`, which has room for size_of(type) bytes. For
/// c32, stores it as the real part; the imaginary part is NaN if it is NaN, otherwise 0. Throws
/// Error(invalid_argument) if the type cannot hold the value.
WARPALIGN_API void store_value(PixelType type, double value, void* sample);

/// Finds the missing samples of an image or volume in host memory: those that are NaN or infinite
/// (for c32: in either part), and those that equal `nodata`. Throws Error(invalid_argument) if no
/// sample of the type can equal `nodata`.
[[nodiscard]] WARPALIGN_API KnownSamples known_samples(const HostImage& image,
                                                       std::optional<double> nodata = {});
[[nodiscard]] WARPALIGN_API KnownSamples known_samples(const HostVolume& volume,
                                                       std::optional<double> nodata = {});

/// Replaces the missing samples of a dense array of one to three dimensions, so that a prefilter
/// may run over it: known samples stay as they are. Several threads share large arrays.
///
/// Missing samples continue their nearest known ones at first. Then at most 20 steps of conjugate
/// gradients minimise the squared Laplacian (biharmonic inpainting) over the samples of each hole
/// within 16 samples of a known one; those farther away keep the first value. Without any known
/// sample, all become 0.
///
/// `known`: one element for each sample of `shape`, 0 where it is missing. Throws
/// Error(invalid_argument) if the number of values or of elements differs from the shape's.
WARPALIGN_API void fill_missing(std::span<float> values, std::span<const std::uint8_t> known,
                                const Shape& shape);
WARPALIGN_API void fill_missing(std::span<double> values, std::span<const std::uint8_t> known,
                                const Shape& shape);

/// Resamples a dense array in host memory, of the shape of `spec.images`, of which samples may be
/// missing, to output_to_input(output pixel). `output` has the shape `spec.output`. Missing samples
/// stay missing and change nothing else: fill_missing() replaces them before the prefilter, and
/// where the share of the spline's support that is known is below min_known_share, the result is
/// missing, too: NaN, or `nodata`. Results that would be rounded to the nodata value of an integer
/// type become the next integer. Degree 0 copies samples.
///
/// `weights`, one element for each pixel of the output, receives the known share of each result's
/// support, from 0 to 1, and 0 beyond the edges with `constant`, where the result is cval; it may
/// be empty. `spec.images.count` is 1. Returns the number of missing samples of the image. Throws
/// as TiledResampler does, and Error(invalid_argument) if all samples are missing, if no sample of
/// the input's or the output's type can be `nodata`, or if samples are missing and the output has
/// no value for them.
WARPALIGN_API std::int64_t resample_known(const Device& device, const ResampleSpec& spec,
                                          const void* image,
                                          const HomogeneousMatrix& output_to_input,
                                          std::optional<double> nodata, void* output,
                                          std::span<float> weights = {});

}  // namespace warpalign
