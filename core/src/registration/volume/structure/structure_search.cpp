// Aligns volumes by mutual information, and judges them by the structure within the outlines.
#include "registration/volume/structure/structure_search.hpp"

#include "registration/volume/fitting/motion_model.hpp"
#include "registration/volume/structure/mutual_information.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr double overview_side = 64;    // voxels along the largest extent
constexpr std::size_t max_refined = 3;  // starts whose similarities are refined
constexpr double max_scale = 1.6;       // of the fitted transform's volume, per axis
constexpr double min_direction = 0.1;
constexpr int max_sweeps = 40;
constexpr double similar_starts = 0.1;  // radians, and of the extent

struct Scored {
  SpatialTransform transform;
  double score = 0;
};

/// Steps along a motion's generators about a centre, each of which moves the object's outer parts
/// by about a millimetre.
class ScaledMotion {
 public:
  ScaledMotion(Motion motion, const Vector3& centre, double radius)
      : motion_(motion), centre_(centre), radius_(radius), count_(generators_of(motion).count) {}
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] SpatialTransform moved(const SpatialTransform& transform,
                                       std::span<const double> steps) const {
    std::array<double, max_unknowns> scaled{};
    for (std::size_t k = 0; k < count_; ++k) scaled[k] = k < 3 ? steps[k] : steps[k] / radius_;
    SpatialTransform change = increment(motion_, std::span<const double>(scaled).first(count_));
    const Vector3 centre = product(change.linear, centre_);
    for (std::size_t i = 0; i < 3; ++i) change.shift[i] += centre_[i] - centre[i];
    return transform * change;
  }

 private:
  Motion motion_;
  Vector3 centre_;
  double radius_;
  std::size_t count_;
};

/// Pattern search (Hooke & Jeeves 1961) with steps in millimetres.
void maximise(MutualInformation& information, const ScaledMotion& motion, double step,
              double tolerance, Scored& best) {
  const std::size_t n = motion.count();
  std::array<double, max_unknowns> lengths{};
  lengths.fill(step);
  const auto try_steps = [&](const SpatialTransform& from, std::span<const double> steps) {
    const SpatialTransform next = motion.moved(from, steps);
    const double volume = determinant(next.linear);
    const double limit = max_scale * max_scale * max_scale;
    if (!(volume > 1 / limit) || !(volume < limit)) return false;
    const double score = information(next);
    if (!(score > best.score)) return false;
    best = {next, score};
    return true;
  };
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    const SpatialTransform from = best.transform;
    std::array<double, max_unknowns> total{};
    bool improved = false;
    for (std::size_t k = 0; k < n; ++k) {
      bool moved = false;
      for (const double sign : {1.0, -1.0}) {
        std::array<double, max_unknowns> steps{};
        steps[k] = sign * lengths[k];
        if (!try_steps(best.transform, steps)) continue;
        total[k] = steps[k];
        moved = true;
        break;
      }
      lengths[k] *= moved ? 1.3 : 0.5;
      improved = improved || moved;
    }
    if (improved) {
      for (double& along : total) along *= 2;
      (void)try_steps(from, total);
    }
    if (*std::max_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(n)) <
        tolerance) {
      return;
    }
    for (std::size_t k = 0; k < n; ++k) lengths[k] = std::max(lengths[k], tolerance / 2);
    if (!improved &&
        *std::max_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(n)) <=
            tolerance) {
      return;
    }
  }
}

/// The root mean square distance of an object's voxels from their centroid.
double radius_of(const std::vector<bool>& object, const VolumeGrid& grid, const Vector3& centre) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (!object[i]) continue;
    const auto at = static_cast<std::int64_t>(i);
    const std::array<std::int64_t, 3> voxel{at % grid.shape.width,
                                            at / grid.shape.width % grid.shape.height,
                                            at / (grid.shape.width * grid.shape.height)};
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = (static_cast<double>(voxel[a]) - grid.middle(a)) * grid.spacing[a] +
                       grid.centre[a] - centre[a];
      sum += d * d;
    }
    count += 1;
  }
  return count > 0 ? std::sqrt(sum / count) : grid.largest_extent() / 4;
}

/// A volume at one resolution, with its object.
struct Level {
  explicit Level(OverviewVolume from)
      : volume(std::move(from)), object(foreground(volume.values, volume.grid.shape)) {}
  OverviewVolume volume;
  std::vector<bool> object;
};

bool is_duplicate(const Scored& candidate, std::span<const Scored> kept, double extent) {
  return std::any_of(kept.begin(), kept.end(), [&](const Scored& other) {
    double rotation = 0, shift = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      const double d = candidate.transform.linear[i] - other.transform.linear[i];
      rotation += d * d;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const double d = candidate.transform.shift[i] - other.transform.shift[i];
      shift += d * d;
    }
    return rotation < similar_starts * similar_starts * 2 &&
           shift < similar_starts * similar_starts * extent * extent;
  });
}

/// The starts, and their rotations with the centroids on each other.
std::vector<SpatialTransform> all_starts(std::span<const SpatialTransform> starts,
                                         const Vector3& from, const Vector3& to,
                                         const StructureSearchOptions& options) {
  std::vector<SpatialTransform> all(starts.begin(), starts.end());
  if (!options.from_centroids) return all;
  const auto add = [&](const Matrix3& rotation) {
    SpatialTransform transform{rotation, to};
    const Vector3 moved = product(rotation, from);
    for (std::size_t i = 0; i < 3; ++i) transform.shift[i] -= moved[i];
    all.push_back(transform);
  };
  add(identity3());
  for (const SpatialTransform& start : starts) add(nearest_rotation(start.linear));
  return all;
}

}  // namespace

std::optional<MatchedStructure> find_structure(const OverviewVolume& reference,
                                               const OverviewVolume& moving,
                                               std::span<const SpatialTransform> starts,
                                               const StructureSearchOptions& options) {
  const double extent = std::max(reference.grid.largest_extent(), moving.grid.largest_extent());
  const double spacing = extent / overview_side;
  const Level fine_from(isotropic(reference, spacing)), fine_to(isotropic(moving, spacing));
  const Level coarse_from(isotropic(reference, 2 * spacing)),
      coarse_to(isotropic(moving, 2 * spacing));
  const Vector3 centre = centroid(fine_from.object, fine_from.volume.grid);
  const Vector3 target = centroid(fine_to.object, fine_to.volume.grid);
  const double radius = radius_of(fine_from.object, fine_from.volume.grid, centre);
  MutualInformation coarse(coarse_from.volume, coarse_from.object, coarse_to.volume,
                           coarse_to.object, false);
  MutualInformation fine(fine_from.volume, fine_from.object, fine_to.volume, fine_to.object, true);

  std::vector<Scored> candidates;
  for (const SpatialTransform& start : all_starts(starts, centre, target, options)) {
    if (angle_of(nearest_rotation(start.linear)) > options.max_rotation) continue;
    candidates.push_back({start, coarse(start)});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Scored& a, const Scored& b) { return a.score > b.score; });
  std::vector<Scored> kept;
  for (const Scored& candidate : candidates) {
    if (kept.size() == max_refined || candidate.score <= 0) break;
    if (!is_duplicate(candidate, kept, extent)) kept.push_back(candidate);
  }
  if (kept.empty()) return std::nullopt;
  const ScaledMotion rigid(Motion::rigid, centre, radius);
  const ScaledMotion similarity(Motion::similarity, centre, radius);
  const ScaledMotion affine(Motion::affine, centre, radius);
  for (Scored& candidate : kept) {
    maximise(coarse, options.motion == Motion::rigid ? rigid : similarity, 3 * spacing, spacing / 2,
             candidate);
  }
  Scored best = *std::max_element(
      kept.begin(), kept.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });

  MatchedStructure match;
  // A rigid motion or a similarity ends here; what is judged is the affine transform from there.
  if (options.motion != Motion::affine) {
    best.score = fine(best.transform);
    maximise(fine, options.motion == Motion::rigid ? rigid : similarity, spacing, spacing / 32,
             best);
    match.transform = best.transform;
    best.score = coarse(best.transform);
  }
  maximise(coarse, affine, 2 * spacing, spacing / 2, best);
  best.score = fine(best.transform);
  maximise(fine, affine, spacing, spacing / 32, best);
  if (options.motion == Motion::affine) match.transform = best.transform;
  match.agreement = structure_agreement(
      fine_from.volume.values, resampled(fine_to.volume, fine_from.volume.grid, best.transform),
      fine_from.volume.grid.shape);
  match.confidence = structure_confidence(match.agreement);
  if (options.same_contrast && match.agreement.direction < min_direction) match.confidence = 0;
  return match;
}

}  // namespace warpalign::detail
