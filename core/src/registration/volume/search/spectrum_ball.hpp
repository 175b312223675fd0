// The magnitudes of a volume's spectrum at low frequencies, which do not depend on where its
// content is, and turn as it turns.
#pragma once

#include <warpalign/backend/stages/volume/rotation_scores.hpp>

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

inline constexpr int max_ball_radius = 24;

/// Fills the cube of RotationScoresSpec::side() voxels with the magnitudes of the half spectrum of
/// a real cube of `side` voxels, of the frequencies up to `radius` + 1, where the
/// radius is at most max_ball_radius: raised to a power that lets
/// strong frequencies not outweigh all others, and freed of their mean on each sphere about the
/// origin, which differs little from volume to volume. Spheres on which a smooth volume has next to
/// nothing keep their small deviations: what is there comes from interpolation.
void take_spectrum_ball(std::span<const std::complex<float>> half_spectrum, std::int64_t side,
                        int radius, std::vector<float>& cube);

/// One of each two opposite points of such a cube within `radius` of the origin. Points within 1 of
/// the origin are left out: they describe the volumes' windows.
void take_ball_points(std::span<const float> cube, std::int64_t cube_side, int radius,
                      std::vector<ScoredPoint>& points);

}  // namespace warpalign::detail
