// Warps arrays with missing samples, in commands.
#pragma once

#include "io/npy.hpp"

#include <warpalign/boundary.hpp>
#include <warpalign/missing.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The options as typed, unchecked.
struct MissingOptions {
  std::string missing = "ignore";
  std::optional<double> nodata;
  std::optional<std::string> weights;
};

/// Throws UsageError unless `missing` is "ignore" or "spread", and the other options suit it.
void check_missing(const MissingOptions& options);
/// Throws UsageError if no sample of the type can have the nodata value.
void check_nodata(const MissingOptions& options, PixelType type);

/// An array without holes, and where its holes were.
struct FilledArray {
  Array samples;  ///< f32, or f64 if it was asked for; c32 if the array is complex
  Array mask;     ///< f32: 1 where a sample is known, otherwise 0
};

/// Fills the missing samples of an array. Empty if all samples are known. Throws UsageError, naming
/// `what`, if none is.
[[nodiscard]] std::optional<FilledArray> filled(const Array& array, std::optional<double> nodata,
                                                const std::string& what, bool in_double = false);

/// The same for an array whose known samples are found already. There must be one.
[[nodiscard]] FilledArray filled(const Array& array, const KnownSamples& samples,
                                 bool in_double = false);

/// The spline that interpolates the mask of an array which is warped with this spline.
[[nodiscard]] SplineModel mask_spline(SplineModel spline);
/// What a sample of an output is.
enum class SampleKind : std::uint8_t { value, missing, outside };
/// Sets the known share to 0 beyond the edges. Returns what each sample of an output is.
[[nodiscard]] std::vector<SampleKind> kinds_of(Array& weights, Boundary boundary);
/// Sets the missing samples to the nodata value, or to NaN without one. With `avoids_nodata`,
/// integer values that are rounded to the nodata value become the next integer.
void set_missing(Array& output, const std::vector<SampleKind>& kinds, std::optional<double> nodata,
                 bool avoids_nodata);
/// Maps an array, or the mask of its known samples, to the output's grid.
using Resample = std::function<Array(const Array&)>;
/// Resamples an array of real numbers so that missing samples stay missing and do not spread: fills
/// them, and marks the samples of the result for which too few are known. `to_grid` gets an array
/// of any real type and returns one of the array's type. `mask_to_grid` interpolates an f32 mask by
/// mask_spline() and returns f32.
[[nodiscard]] Array resample_known(const Array& array, std::optional<double> nodata,
                                   Boundary boundary, const Resample& to_grid,
                                   const Resample& mask_to_grid);
/// Whether an integer of the array has the nodata value.
[[nodiscard]] bool looks_missing(const Array& output, std::optional<double> nodata);

}  // namespace warpalign::program
