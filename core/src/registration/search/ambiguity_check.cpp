// Says whether two images match at other shifts as well as where a search has found them to.
#include "registration/search/ambiguity_check.hpp"

#include "registration/numerics/transform_distance.hpp"
#include "registration/scoring/repetition.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

namespace warpalign::detail {

namespace {

// Shifts whose scores have this ratio are equally good.
constexpr double equal_ratio = 0.9;
// A motion that is shorter by less than this, in pixels, is no shorter.
constexpr double same_motion = 0.5;
// How often the search for the smallest motion goes on from where it has led to.
constexpr int max_steps = 4;
constexpr std::size_t min_runners_up = 2;
// Of two shifts that match equally well the prior excludes the one that is this many times as far
// from it, for each frame that has passed. An image that drifts by d in a direction in which the
// texture repeats every p has a rival at p - d: it is followed while d is up to a quarter of p.
// Drifts between that and three quarters are told to be ambiguous. Beyond, they look like slow ones
// the other way.
constexpr double excluding_ratio = 3;
// Of such shifts an initial pose excludes the one that is this many times as far from it.
constexpr double clearly_farther = 4.0 / 3;

Point shift_of(const PairContext& context, const Affine& matrix) {
  return Similarity::of(matrix, context.reference.shape(), context.moving.shape()).translation;
}

// About how much of the reference a pose leaves in common.
double overlap_of(const PairContext& context, const Affine& matrix) {
  const Shape& shape = context.reference.shape();
  const Point shift = shift_of(context, matrix);
  const auto along = [](double length, std::int64_t side) {
    return std::max(0.01, 1 - std::abs(length) / static_cast<double>(side));
  };
  return along(shift.x, shape.width) * along(shift.y, shape.height);
}

Affine shifted(const Affine& matrix, Point shift) {
  return matrix * Affine::translation(-shift.x, -shift.y);
}

Candidate shifted(const Candidate& candidate, Point shift) {
  Candidate result = candidate;
  result.matrix = shifted(candidate.matrix, shift);
  if (candidate.motion != Motion::similarity) {
    result.richer = candidate.richer * Affine::translation(-shift.x, -shift.y);
  }
  return result;
}

// Of the reference's larger side: how far the fit of a proposal moves corners, at most.
constexpr double distance_of_fit = 1.0 / 32;

// Whether the search has found already that no other shift scores nearly as much.
bool is_only_maximum(const PairContext& context, const Candidate& candidate) {
  if (!candidate.only_maximum_at || candidate.by_orientation) return false;
  const Shape& shape = context.reference.shape();
  const auto side = static_cast<double>(std::max(shape.width, shape.height));
  return corner_distance(*candidate.only_maximum_at, candidate.matrix, shape) <=
         distance_of_fit * side;
}

// A similarity of which nothing is known yet.
Candidate unfitted(const Candidate& pose) {
  Candidate candidate;
  candidate.matrix = pose.matrix;
  candidate.proposed_by = pose.proposed_by;
  candidate.by_orientation = pose.by_orientation;
  return candidate;
}

double nearest_of(std::span<const Point> shifts) {
  double nearest = INFINITY;
  for (const Point& shift : shifts) nearest = std::min(nearest, std::hypot(shift.x, shift.y));
  return nearest;
}

}  // namespace

// Whether the caller has told from where motions are measured.
bool AmbiguityCheck::has_origin() const { return initial_ != nullptr || prior_; }

// The length of the motion from the initial pose, or without one from the prior, or without both
// from where the images' centres meet.
double AmbiguityCheck::motion_of(const PairContext& context, const Affine& matrix) const {
  if (initial_ != nullptr) {
    return corner_distance(matrix, initial_->similarity, context.reference.shape());
  }
  const Point shift = shift_of(context, matrix);
  const Point from = prior_ ? shift_of(context, prior_->matrix) : Point{};
  return std::hypot(shift.x - from.x, shift.y - from.y);
}

// How well an alternative matches, compared with the pose `from`. Scores grow with the overlap, so
// that they prefer small motions. An initial pose and a prior know better, and leave the
// correlation alone.
double AmbiguityCheck::quality(const PairContext& context, const Affine& from,
                               const Alternatives::Alternative& alternative) const {
  if (!has_origin()) return alternative.ratio;
  return alternative.ratio * std::sqrt(overlap_of(context, from) /
                                       overlap_of(context, shifted(from, alternative.shift)));
}

double AmbiguityCheck::best_quality(const PairContext& context, const Affine& from,
                                    const Alternatives& alternatives) const {
  if (!has_origin()) return alternatives.ratio;
  return alternatives.maxima.empty() ? 0 : quality(context, from, alternatives.maxima.front());
}

// Whether an alternative matches about as well as the best of all shifts.
bool AmbiguityCheck::is_equal(const PairContext& context, const Affine& from,
                              const Alternatives::Alternative& alternative,
                              const Alternatives& alternatives) const {
  return quality(context, from, alternative) >=
         equal_ratio * std::max(1.0, best_quality(context, from, alternatives));
}

// The score of the best shift that neither the initial pose nor the prior excludes, as a fraction
// of the candidate's. They exclude none along a line, where rivals are as near as one likes.
double AmbiguityCheck::remaining_ratio(const PairContext& context, const Candidate& found,
                                       const Alternatives& alternatives) const {
  if (!has_origin() || alternatives.along) return alternatives.ratio;
  const double times = initial_ != nullptr ? clearly_farther : excluding_ratio * prior_->frames;
  const double excluded = times * motion_of(context, found.matrix);
  double ratio = 0;
  for (const Alternatives::Alternative& alternative : alternatives.maxima) {
    if (motion_of(context, shifted(found.matrix, alternative.shift)) >= excluded) continue;
    ratio = std::max(ratio, alternative.ratio);
  }
  return ratio;
}

const Alternatives& AmbiguityCheck::alternatives_of(const PairContext& context,
                                                    const Candidate& candidate) {
  const auto is_allowed = [&](Point shift) {
    return evaluator_.is_allowed(context, shifted(candidate, shift));
  };
  return alternatives_.find(context, candidate, std::cref(is_allowed));  // allocates nothing
}

// The pose of the smallest motion (motion_of()) among those that match equally well, if it is
// another one. `known`: the alternatives of `found`.
std::optional<Candidate> AmbiguityCheck::with_smallest_motion(const PairContext& context,
                                                              const Candidate& found,
                                                              const Alternatives& known) {
  std::optional<Candidate> best;
  for (int step = 0; step < max_steps; ++step) {
    const Candidate from = best ? *best : found;
    const Alternatives& alternatives = best ? alternatives_of(context, from) : known;
    const bool is_among_best = equal_ratio * best_quality(context, from.matrix, alternatives) <= 1;
    double least = is_among_best ? motion_of(context, from.matrix) - same_motion : INFINITY;
    bool moved = false;
    for (const Alternatives::Alternative& alternative : alternatives.maxima) {
      if (!is_equal(context, from.matrix, alternative, alternatives)) continue;
      const Candidate other = shifted(from, alternative.shift);
      const double motion = motion_of(context, other.matrix);
      if (motion >= least) continue;
      least = motion;
      best = other;
      moved = true;
    }
    if (!moved) break;
  }
  return best;
}

std::vector<Point> AmbiguityCheck::equals_of(const PairContext& context, const Candidate& found,
                                             const Alternatives& alternatives) const {
  std::vector<Point> equals;
  for (const Alternatives::Alternative& alternative : alternatives.maxima) {
    if (is_equal(context, found.matrix, alternative, alternatives)) {
      equals.push_back(alternative.shift);
    }
  }
  return equals;
}

// The model selected at a pose. Nothing if the fit leaves the pose for another one; the nearest
// alternative is `apart` pixels away.
std::optional<Candidate> AmbiguityCheck::selected_at(const PairContext& context,
                                                     const Candidate& pose, double apart,
                                                     double trials) {
  std::vector<Candidate> fitted{evaluator_.fitted(context, unfitted(pose), RefineFrom::log_polar)};
  evaluator_.test(context, fitted, trials);
  selection_.conclude(context, fitted, trials);
  if (fitted.empty()) return std::nullopt;
  const Shape& reference = context.reference.shape();
  const Affine back = pose.matrix.inverse() * fitted.front().matrix;
  if (corner_distance(back, Affine{}, reference) > apart / 2) return std::nullopt;
  return fitted.front();
}

// `equals`: shifts that score alike, from the first candidate on.
void AmbiguityCheck::add_runners_up(const PairContext& context, std::span<const Point> equals,
                                    std::vector<Candidate>& candidates, double trials) {
  const std::size_t most =
      std::max(min_runners_up, static_cast<std::size_t>(options_.candidates - 1));
  std::vector<Candidate> others;
  for (const Point& shift : equals) others.push_back(unfitted(shifted(candidates.front(), shift)));
  std::sort(others.begin(), others.end(), [&](const Candidate& a, const Candidate& b) {
    return motion_of(context, a.matrix) < motion_of(context, b.matrix);
  });
  if (others.size() > most) others.resize(most);
  for (Candidate& other : others) {
    other = evaluator_.fitted(context, other, RefineFrom::log_polar);
  }
  evaluator_.test(context, others, trials);
  candidates.insert(candidates.begin() + 1, others.begin(), others.end());
  for (std::size_t i = 1; i < candidates.size(); ++i) candidates[i].other_shift_ratio = 1;
}

std::optional<Ambiguity> AmbiguityCheck::check(const PairContext& context,
                                               std::vector<Candidate>& candidates, double trials,
                                               const InitialPose* initial) {
  initial_ = initial;
  Candidate& found = candidates.front();
  if (is_only_maximum(context, found)) return std::nullopt;
  const Alternatives* alternatives = &alternatives_of(context, found);
  // Near the initial pose, a shift is the answer even if another one scores higher.
  found.other_shift_ratio =
      initial_ != nullptr ? remaining_ratio(context, found, *alternatives) : alternatives->ratio;
  if (is_convincing(found)) return std::nullopt;
  const double apart = nearest_of(equals_of(context, found, *alternatives));
  if (const auto smallest = with_smallest_motion(context, found, *alternatives)) {
    const auto selected = selected_at(context, *smallest, apart, trials);
    if (selected && is_convincing(*selected)) found = *selected;
    alternatives = &alternatives_of(context, found);
  }
  found.other_shift_ratio = remaining_ratio(context, found, *alternatives);
  if (is_convincing(found)) return std::nullopt;
  const std::vector<Point> equals = equals_of(context, found, *alternatives);
  add_runners_up(context, equals, candidates, trials);
  return Ambiguity{period_of(equals), alternatives->along};
}

}  // namespace warpalign::detail
