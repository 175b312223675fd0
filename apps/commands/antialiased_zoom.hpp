// Zooms of arrays without aliasing, for `warpalign resample --antialias`.
#pragma once

#include "io/npy.hpp"

#include <warpalign/device.hpp>
#include <warpalign/stages/zoom.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

struct PointOptions;

/// The method of --antialias, or empty without it. Throws UsageError, naming the option, if the
/// method is unknown or does not suit the points and the spline.
[[nodiscard]] std::optional<Antialias> antialias_of(const std::optional<std::string>& name,
                                                    const PointOptions& points,
                                                    const SplineModel& spline);
/// Throws UsageError if least squares cannot reduce an array of these extents to the others.
void check_projection(std::optional<Antialias> method, const std::vector<std::int64_t>& input,
                      const std::vector<std::int64_t>& output);

/// The array, zoomed to the extents and converted to the type.
[[nodiscard]] Array zoomed(const Device& device, const SplineModel& spline, Antialias method,
                           const Array& array, const std::vector<std::int64_t>& extents,
                           PixelType type);

}  // namespace warpalign::program
