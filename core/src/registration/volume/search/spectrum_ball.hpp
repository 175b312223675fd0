// The magnitudes of a volume's spectrum at low frequencies. They do not change when the volume is
// shifted, and rotate with it.
#pragma once

#include <warpalign/backend/stages/volume/rotation_scores.hpp>

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

inline constexpr int max_ball_radius = 24;

/// Fills a cube of RotationScoresSpec::side() voxels a side with the magnitudes of the half
/// spectrum of a real cube of `side` voxels a side, at frequencies up to `radius` + 1 (`radius` is
/// at most max_ball_radius). The magnitudes are compressed by a power law, so that strong
/// frequencies do not dominate. Then the mean over each sphere about the origin is subtracted,
/// because it differs little from volume to volume. The deviations are not normalized: on spheres
/// where a smooth volume has almost no power they come from interpolation, and should stay small.
void take_spectrum_ball(std::span<const std::complex<float>> half_spectrum, std::int64_t side,
                        int radius, std::vector<float>& cube);

/// Collects the points of such a cube within `radius` of the origin, one of each pair of opposite
/// points. Skips points closer than 2 to the origin, which describe the volumes' windows.
void take_ball_points(std::span<const float> cube, std::int64_t cube_side, int radius,
                      std::vector<ScoredPoint>& points);

}  // namespace warpalign::detail
