// Zooms and affine transforms of arrays without aliasing, for `warpalign resample --antialias`.
#pragma once

#include "io/npy.hpp"

#include <warpalign/device.hpp>
#include <warpalign/stages/zoom.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

struct PointOptions;
struct SamplingPoints;

/// The method of --antialias, or empty without it. Throws UsageError, naming the option, if the
/// method is unknown or does not suit the points and the spline.
[[nodiscard]] std::optional<Antialias> antialias_of(const std::optional<std::string>& name,
                                                    const PointOptions& points,
                                                    const SplineModel& spline);
/// Throws UsageError if least squares cannot reduce an array of these extents to the others.
void check_projection(std::optional<Antialias> method, const std::vector<std::int64_t>& input,
                      const std::vector<std::int64_t>& output);

/// Throws UsageError if the points are coordinates, but no grid of the input's number of axes.
void check_grid_of_points(std::optional<Antialias> method, const SamplingPoints& points,
                          const std::vector<std::int64_t>& input);

/// The array at the points' affine transform, each pixel as the mean over its footprint, converted
/// to the type.
[[nodiscard]] Array warped_without_aliasing(const Device& device, const SplineModel& spline,
                                            const Array& array, const SamplingPoints& points,
                                            PixelType type);
/// The array, zoomed to the extents and converted to the type, in single or double precision.
[[nodiscard]] Array zoomed(const Device& device, const SplineModel& spline, Antialias method,
                           const Array& array, const std::vector<std::int64_t>& extents,
                           PixelType type, bool in_double);

}  // namespace warpalign::program
