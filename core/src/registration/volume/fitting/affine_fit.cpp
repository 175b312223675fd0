// Gauss-Newton estimation of rigid, similarity and affine transforms between two volumes.
#include "registration/volume/fitting/affine_fit.hpp"

#include "registration/numerics/centred_moments.hpp"
#include "registration/numerics/small_solver.hpp"
#include "registration/volume/fitting/motion_model.hpp"
#include "registration/volume/geometry/volume_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr double min_fitted = 27;      // voxels
constexpr double max_corner_step = 2;  // of a corner, in voxels; longer steps are shortened
// A larger change of volume indicates that the fit collapses.
constexpr double max_volume_ratio = 8;

double inner_voxels(const Shape& shape) {
  const auto inner = [](std::int64_t n) {
    return static_cast<double>(std::max<std::int64_t>(n - 2 * AffineFit::margin, 1));
  };
  return inner(shape.width) * inner(shape.height) * inner(shape.depth);
}

}  // namespace

AffineFit::AffineFit(const Device& device, const VolumeGrid& reference, const VolumeGrid& moving,
                     std::size_t max_candidates, bool marked)
    : reference_(reference),
      moving_(moving),
      sums_plan_(device, {reference.shape, moving.shape, margin,
                          static_cast<std::int64_t>(max_candidates), marked}),
      states_(max_candidates),
      sums_(max_candidates),
      runs_(max_candidates) {
  derivatives_.reserve(max_unknowns);
  set_model(motion_);
  set_valid(inner_voxels(reference.shape), inner_voxels(moving.shape));
}

void AffineFit::set_valid(double reference, double moving) {
  const double moving_per_reference =
      moving_.spacing[0] * moving_.spacing[1] * moving_.spacing[2] /
      (reference_.spacing[0] * reference_.spacing[1] * reference_.spacing[2]);
  min_voxels_ = std::max(min_fitted, min_common_voxels(reference, moving * moving_per_reference));
}

// A generator moves a position v by G v + g. In voxels u of the reference, with v = S u + centre,
// this is S^-1 (G S u + G centre + g). The sums measure u in units of half the largest side.
void AffineFit::set_model(Motion motion) {
  motion_ = motion;
  const MotionGenerators generators = generators_of(motion);
  derivatives_.clear();
  const auto sides = reference_.sides();
  const auto half = static_cast<double>(std::max({sides[0], sides[1], sides[2]})) / 2;
  for (std::size_t k = 0; k < generators.count; ++k) {
    const SpatialTransform& g = generators.each[k];
    const Vector3 at_centre = g(reference_.centre);
    Derivative d{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        d[4 * i + j] = half * g.linear[3 * i + j] * reference_.spacing[j] / reference_.spacing[i];
      }
      d[4 * i + 3] = at_centre[i] / reference_.spacing[i];
    }
    derivatives_.push_back(d);
  }
}

void AffineFit::execute(Stream& stream, StageClock& clock, const LevelImages& images,
                        std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Run& run = runs_[i];
    AffineVolumeState& state = states_[i];
    const CentredRows rows = centred_rows(run.transform, reference_, moving_);
    std::transform(rows.begin(), rows.end(), state.rows.begin(),
                   [](double number) { return static_cast<float>(number); });
    state.gain = static_cast<float>(run.gain);
    state.offset = static_cast<float>(run.offset);
    state.inverse_scale = run.scale.inverse();
    state.active = run.active ? 1 : 0;
  }
  clock.run("affine_volume_sums", [&] {
    sums_plan_.execute(stream, images.reference, images.moving, std::span(states_).first(count),
                       std::span(sums_).first(count));
  });
}

// Returns false if the fit fails. The gradients of the reference serve as instrumental variables,
// so that noise does not bias the solution towards shifts at which interpolation damps the noise
// most (see volume_fit.cpp).
bool AffineFit::step(Run& run, const AffineVolumeSums& s, const FitLimits& limits) const {
  const CentredMoments moments(weighted_moments(s));
  if (!(s.voxels >= min_voxels_) || !(moments.rr > 0) || !(moments.mm > 0)) return false;
  run.gain = moments.contrast_gain();
  run.offset = moments.offset(run.gain);
  run.scale.count_evaluation();
  if (run.scale.evaluations() == 1) return true;
  run.scale.update(s.absolute, s.voxels);
  const std::size_t n = derivatives_.size();
  std::array<double, max_unknowns * max_unknowns> matrix{};
  std::array<double, max_unknowns> steps{};
  for (std::size_t p = 0; p < n; ++p) {
    std::array<double, 12> along{};
    for (std::size_t row = 0; row < 12; ++row) {
      for (std::size_t column = 0; column < 12; ++column) {
        along[row] += s.matrix[12 * row + column] * derivatives_[p][column];
      }
      steps[p] -= derivatives_[p][row] * s.vector[row];
    }
    for (std::size_t q = 0; q < n; ++q) {
      for (std::size_t row = 0; row < 12; ++row) {
        matrix[p * n + q] += derivatives_[q][row] * along[row];
      }
    }
  }
  if (!solve_symmetric(std::span(matrix).first(n * n), std::span(steps).first(n))) return false;
  SpatialTransform next = run.transform * increment(motion_, steps);
  double length = corner_distance(next, run.transform, reference_, moving_);
  if (length > max_corner_step) {
    for (double& along : steps) along *= max_corner_step / length;
    next = run.transform * increment(motion_, steps);
    length = max_corner_step;
  }
  run.transform = next;
  const double ratio = determinant(next.linear);
  if (!(ratio > 1 / max_volume_ratio) || !(ratio < max_volume_ratio)) return false;
  if (!(corner_distance(next, run.candidate->transform, reference_, moving_) <= limits.max_drift))
    return false;
  if (length < limits.tolerance && run.scale.was_robust()) {
    run.candidate->transform = run.transform;
    run.candidate->fitted = true;
    run.active = false;
  }
  return true;
}

void AffineFit::fit(Stream& stream, StageClock& clock, const LevelImages& images, Motion motion,
                    const FitLimits& limits, std::span<VolumeCandidate> candidates) {
  if (motion != motion_) set_model(motion);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].fitted = false;
    runs_[i] = {&candidates[i], candidates[i].transform};
  }
  const std::span<Run> runs = std::span(runs_).first(candidates.size());
  for (int i = 0; i < limits.evaluations; ++i) {
    if (std::none_of(runs.begin(), runs.end(), [](const Run& run) { return run.active; })) return;
    execute(stream, clock, images, runs.size());
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (runs[k].active && !step(runs[k], sums_[k], limits)) runs[k].active = false;
    }
  }
}

void AffineFit::evaluate(Stream& stream, StageClock& clock, const LevelImages& images,
                         std::span<VolumeCandidate> candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    runs_[i] = {&candidates[i], candidates[i].transform};
  }
  execute(stream, clock, images, candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const AffineVolumeSums& s = sums_[i];
    const bool enough = s.voxels >= min_voxels_;
    candidates[i].voxels = s.voxels;
    candidates[i].correlation = enough ? correlation_of(weighted_moments(s)) : 0;
  }
}

}  // namespace warpalign::detail
