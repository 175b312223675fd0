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

double motion_of(const PairContext& context, const Affine& matrix) {
  const Point shift =
      Similarity::of(matrix, context.reference.shape(), context.moving.shape()).translation;
  return std::hypot(shift.x, shift.y);
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

// Whether an alternative scores about as much as the best of all shifts.
bool is_equal(const Alternatives::Alternative& alternative, const Alternatives& alternatives) {
  return alternative.ratio >= equal_ratio * std::max(1.0, alternatives.ratio);
}

double nearest_of(const Alternatives& alternatives) {
  double nearest = INFINITY;
  for (const Alternatives::Alternative& alternative : alternatives.maxima) {
    if (is_equal(alternative, alternatives)) {
      nearest = std::min(nearest, std::hypot(alternative.shift.x, alternative.shift.y));
    }
  }
  return nearest;
}

}  // namespace

const Alternatives& AmbiguityCheck::alternatives_of(const PairContext& context,
                                                    const Candidate& candidate) {
  const auto is_allowed = [&](Point shift) {
    return evaluator_.is_allowed(context, shifted(candidate, shift));
  };
  return alternatives_.find(context, candidate, std::cref(is_allowed));  // allocates nothing
}

// The pose of the smallest motion among those that match equally well, if it is another one.
// `known`: the alternatives of `found`.
std::optional<Candidate> AmbiguityCheck::with_smallest_motion(const PairContext& context,
                                                              const Candidate& found,
                                                              const Alternatives& known) {
  std::optional<Candidate> best;
  for (int step = 0; step < max_steps; ++step) {
    const Candidate from = best ? *best : found;
    const Alternatives& alternatives = best ? alternatives_of(context, from) : known;
    const bool is_among_best = equal_ratio * alternatives.ratio <= 1;
    double least = is_among_best ? motion_of(context, from.matrix) - same_motion : INFINITY;
    bool moved = false;
    for (const Alternatives::Alternative& alternative : alternatives.maxima) {
      if (!is_equal(alternative, alternatives)) continue;
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
                                               std::vector<Candidate>& candidates, double trials) {
  Candidate& found = candidates.front();
  if (is_only_maximum(context, found)) return std::nullopt;
  const Alternatives* alternatives = &alternatives_of(context, found);
  found.other_shift_ratio = alternatives->ratio;
  if (is_convincing(found)) return std::nullopt;
  const double apart = nearest_of(*alternatives);
  if (const auto smallest = with_smallest_motion(context, found, *alternatives)) {
    const auto selected = selected_at(context, *smallest, apart, trials);
    if (selected && is_convincing(*selected)) found = *selected;
    alternatives = &alternatives_of(context, found);
    found.other_shift_ratio = alternatives->ratio;
    if (is_convincing(found)) return std::nullopt;
  }
  std::vector<Point> equals;
  for (const Alternatives::Alternative& alternative : alternatives->maxima) {
    if (is_equal(alternative, *alternatives)) equals.push_back(alternative.shift);
  }
  add_runners_up(context, equals, candidates, trials);
  return Ambiguity{period_of(equals), alternatives->along};
}

}  // namespace warpalign::detail
