// Finds homographies from the matches of patches.
#include "registration/proposers/patch_votes.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>

namespace warpalign::detail {

namespace {

// Most matches near a vote are inliers; among the best matches of each patch few may be.
constexpr int samples_of_vote = 600;
constexpr int samples_of_best = 3000;
constexpr int max_growth = 10;
// A second match of a patch is used in addition to the best one if it is farther away than this, in
// units of the tolerance.
constexpr double distinct_match_distance = 3;
// The correlation at which a vote has no weight, relative to the smallest correlation used.
constexpr double zero_weight_correlation = 0.8;
// The matches from which a homography is estimated: those of views near the vote's, within this
// many times the allowed disagreement of the position that the vote predicts.
constexpr double nearby_scale = 1.6;
constexpr double nearby_distance = 1.5;
// Votes with neighbouring rotations and scales count as one if their shifts differ by less than
// this, in units of the disagreement.
constexpr double duplicate_vote_distance = 2;

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }

// Tests whether a match lies within a distance (in reference pixels) of the position that a vote
// predicts.
class Agreement {
 public:
  Agreement(const PatchMatch& vote, const Affine& linear, double most)
      : vote_(vote), linear_(linear), most_(square(most * vote.view.scale)) {}

  bool with(const PatchMatch& match) const {
    const Point p = match.reference - vote_.reference;
    const Point q = match.moving - vote_.moving;
    const Point led{linear_.a * p.x + linear_.b * p.y, linear_.d * p.x + linear_.e * p.y};
    return squared_distance(led, q) < most_;
  }

 private:
  const PatchMatch& vote_;
  const Affine& linear_;
  double most_;
};

// Whether a homography rotates and scales the neighbourhood of a patch about as its match does.
bool agrees_with_view(const LocalMap& here, const Neighbourhood& neighbours) {
  return neighbours.has(here.a, here.b, here.d, here.e);
}

// Shifts and scales points to a mean of 0 and a standard deviation of about 1.
struct Normalization {
  Point centre;
  double scale = 1;
  [[nodiscard]] Point operator()(Point p) const {
    return {(p.x - centre.x) * scale, (p.y - centre.y) * scale};
  }
  [[nodiscard]] Affine matrix() const {
    return Affine{scale, 0, -scale * centre.x, 0, scale, -scale * centre.y};
  }
};

Normalization normalization_of(std::span<const PatchMatch> matches, Point PatchMatch::*point) {
  Normalization result;
  const auto n = static_cast<double>(matches.size());
  for (const PatchMatch& match : matches) {
    result.centre.x += (match.*point).x / n;
    result.centre.y += (match.*point).y / n;
  }
  double spread = 0;
  for (const PatchMatch& match : matches) spread += distance(match.*point, result.centre) / n;
  result.scale = spread > 0 ? 1 / spread : 1;
  return result;
}

// A private random number generator, so that results do not depend on earlier runs (Park & Miller
// 1988).
class Random {
 public:
  std::uint32_t below(std::uint32_t n) {
    state_ = state_ * 48271 % 2147483647;
    return static_cast<std::uint32_t>(state_) % n;  // 32-bit division is faster than 64-bit
  }

 private:
  std::uint64_t state_ = 20011;
};

// No view of a plane mirrors or folds it.
bool keeps_orientation(const Homography& m, std::span<const PatchMatch> matches) {
  return std::all_of(matches.begin(), matches.end(), [&](const PatchMatch& match) {
    const LocalMap here(m, match.reference);
    return here.w > 0 && here.area() > 0;
  });
}

}  // namespace

Neighbourhood::Neighbourhood(const PatchView& view) {
  constexpr double rounding = 1 + 1e-9;  // adjacent searched views are a whole step apart
  const double radians = view.rotation_deg * std::numbers::pi / 180;
  cosine_ = std::cos(radians);
  sine_ = std::sin(radians);
  smallest_area_ = square(view.scale / (nearby_scale * rounding));
  largest_area_ = square(view.scale * (nearby_scale * rounding));
}

bool are_neighbours(const PatchView& a, const PatchView& b) {
  const Affine linear = b.linear();
  return Neighbourhood(a).has(linear.a, linear.b, linear.d, linear.e);
}

// By polar decomposition.
PatchView view_of(const Affine& here) {
  const double degrees = std::atan2(here.b - here.d, here.a + here.e) * 180 / std::numbers::pi;
  return {degrees, scale_of(here), 1, 0};
}

// The stretch is symmetric, so that rotation and scale are those of the polar decomposition.
Affine PatchView::linear() const {
  const Affine turn = Similarity{rotation_deg, scale, {}}.matrix({1, 1, 1}, {1, 1, 1});
  const double root = std::sqrt(stretch);
  const double angle = direction_deg * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double along = root - 1 / root;
  const Affine stretched{
      1 / root + along * c * c, along * c * s, 0, along * c * s, 1 / root + along * s * s, 0};
  Affine result = turn * stretched;
  result.c = result.f = 0;
  return result;
}

// With the last element 1, the equations of each match are linear in the other eight (direct linear
// transform, with Hartley's normalization, 1997).
std::optional<Homography> homography_of(std::span<const PatchMatch> matches) {
  if (matches.size() < 4) return std::nullopt;
  const Normalization from = normalization_of(matches, &PatchMatch::reference);
  const Normalization to = normalization_of(matches, &PatchMatch::moving);
  std::array<double, 64> h{};
  std::array<double, 8> b{};
  for (const PatchMatch& match : matches) {
    const Point p = from(match.reference);
    const Point q = to(match.moving);
    const std::array<std::array<double, 8>, 2> rows{
        {{p.x, p.y, 1, 0, 0, 0, -q.x * p.x, -q.x * p.y},
         {0, 0, 0, p.x, p.y, 1, -q.y * p.x, -q.y * p.y}}};
    const std::array<double, 2> right{q.x, q.y};
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t j = 0; j < 8; ++j) h[8 * i + j] += rows[r][i] * rows[r][j];
        b[i] += rows[r][i] * right[r];
      }
    }
  }
  if (!solve_symmetric(h, b)) return std::nullopt;
  const Homography normalized({b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], 1});
  const Homography result = Homography(to.matrix().inverse()) * normalized * from.matrix();
  if (result.h[8] == 0 || !std::isfinite(result.h[8])) return std::nullopt;
  return scaled(result);
}

// Let the fourth point be the sum of a_i p_i over the other three, with weights that add up to 1,
// and its image the sum of A_i q_i. The matrix that maps the vectors (p_i, 1) to A_i / a_i (q_i, 1)
// then maps (p_4, 1) to (q_4, 1), and these factors are its divisors. By Cramer's rule the weights
// are ratios of triangle areas. All points are relative to the first one.
std::optional<Homography> homography_between(const std::array<Point, 4>& from,
                                             const std::array<Point, 4>& to) {
  constexpr double least_area = 1e-9;  // relative to the square of the points' distances
  struct Areas {
    Point second, third, fourth;  // point
    double all, of_second, of_third, of_first;
    explicit Areas(const std::array<Point, 4>& p)
        : second(p[1] - p[0]),
          third(p[2] - p[0]),
          fourth(p[3] - p[0]),
          all(cross(second, third)),
          of_second(cross(fourth, third)),
          of_third(cross(second, fourth)),
          of_first(all - of_second - of_third) {}
  };
  const Areas p(from);
  const Areas q(to);
  const double least =
      least_area * (squared_distance(p.second, {}) + squared_distance(p.third, {}) +
                    squared_distance(p.fourth, {}));
  const auto keeps = [&](double area, double mapped) {
    return std::abs(area) > least && area * mapped > 0;
  };
  if (!keeps(p.all, q.all) || !keeps(p.of_first, q.of_first) || !keeps(p.of_second, q.of_second) ||
      !keeps(p.of_third, q.of_third)) {
    return std::nullopt;
  }
  const double w1 = q.of_first / p.of_first;
  const double w2 = q.of_second / p.of_second;
  const double w3 = q.of_third / p.of_third;
  // The row of p.all times the matrix that has the given values at the second and third point, and
  // 0 at the first.
  const auto row = [&](double at_second, double at_third) {
    return Point{p.third.y * at_second - p.second.y * at_third,
                 p.second.x * at_third - p.third.x * at_second};
  };
  const Point divisor = row(w2 - w1, w3 - w1);
  const Point x = row(w2 * q.second.x, w3 * q.third.x);
  const Point y = row(w2 * q.second.y, w3 * q.third.y);
  const auto shifted = [&](Point r, double constant) {
    return constant - r.x * from[0].x - r.y * from[0].y;
  };
  const double last = shifted(divisor, w1 * p.all);
  if (!(last * p.all > 0)) return std::nullopt;
  const double unit = 1 / last;
  const auto [left, top] = to[0];
  return Homography({(x.x + left * divisor.x) * unit, (x.y + left * divisor.y) * unit,
                     shifted(x, 0) * unit + left,  //
                     (y.x + top * divisor.x) * unit, (y.y + top * divisor.y) * unit,
                     shifted(y, 0) * unit + top,  //
                     divisor.x * unit, divisor.y * unit, 1});
}

PatchVotes::UsableMatch PatchVotes::usable_match(const ViewMatches& of, const PatchMatch& match,
                                                 const VoteOptions& options) {
  return {&match,          &of,          square(options.tolerance * match.view.scale),
          match.reference, match.moving, match.correlation};
}

void PatchVotes::group_by_view(std::span<const PatchMatch> matches) {
  views_.clear();
  for (std::size_t first = 0; first < matches.size();) {
    std::size_t last = first;
    while (last < matches.size() && matches[last].view == matches[first].view) ++last;
    const PatchView& view = matches[first].view;
    views_.push_back({matches.subspan(first, last - first), view.linear(), Neighbourhood(view)});
    first = last;
  }
}

// Groups the matches by patch, and keeps their order within a patch.
void PatchVotes::group_by_patch(const VoteOptions& options) {
  const auto for_each_strong = [&](const auto& visit) {
    for (const ViewMatches& of : views_) {
      for (const PatchMatch& match : of.matches) {
        if (match.correlation >= options.min_correlation) visit(of, match);
      }
    }
  };
  std::size_t windows = 0;
  for (const ViewMatches& of : views_) {
    for (const PatchMatch& match : of.matches) windows = std::max(windows, match.window + 1);
  }
  best_correlation_.assign(windows, 0);
  best_match_.assign(windows, 0);
  // The position for the next match of each patch. At the end this is where the next patch begins.
  first_match_.assign(windows + 2, 0);
  for_each_strong(
      [&](const ViewMatches&, const PatchMatch& match) { ++first_match_[match.window + 2]; });
  std::partial_sum(first_match_.begin(), first_match_.end(), first_match_.begin());
  matches_.resize(first_match_.back());
  for_each_strong([&](const ViewMatches& of, const PatchMatch& match) {
    matches_[first_match_[match.window + 1]++] = usable_match(of, match, options);
  });
}

std::span<const PatchVotes::UsableMatch> PatchVotes::matches_of_patch(std::size_t window) const {
  const std::size_t first = first_match_[window];
  return std::span(matches_).subspan(first, first_match_[window + 1] - first);
}

void PatchVotes::begin(std::span<const PatchMatch> matches, const VoteOptions& options) {
  group_by_view(matches);
  group_by_patch(options);
}

// Adds a vote for each match of a view: how strongly the other matches agree with it.
void PatchVotes::vote(const ViewMatches& view, const VoteOptions& options) {
  for (const PatchMatch& around : view.matches) {
    if (around.correlation < options.min_correlation) continue;
    const Agreement agreement(around, view.linear, options.max_disagreement);
    Vote vote{&around, &view, 0};
    for (const PatchMatch& match : view.matches) {
      const double excess = match.correlation - zero_weight_correlation * options.min_correlation;
      if (excess > 0 && agreement.with(match)) vote.votes += excess;
    }
    votes_.push_back(vote);
  }
}

// Keeps the best distinct votes, best first.
void PatchVotes::keep_best_votes(const VoteOptions& options) {
  std::sort(votes_.begin(), votes_.end(),
            [](const Vote& a, const Vote& b) { return a.votes > b.votes; });
  const auto is_same = [&](const Vote& vote, const Vote& other) {
    return are_neighbours(vote.around->view, other.around->view) &&
           Agreement(*other.around, other.of->linear,
                     duplicate_vote_distance * options.max_disagreement)
               .with(*vote.around);
  };
  auto end = votes_.begin();
  for (const Vote& vote : votes_) {
    if (end - votes_.begin() == static_cast<std::ptrdiff_t>(options.maximum)) break;
    const bool known =
        std::any_of(votes_.begin(), end, [&](const Vote& other) { return is_same(vote, other); });
    if (!known) *end++ = vote;
  }
  votes_.erase(end, votes_.end());
}

void PatchVotes::collect_near(const Vote& vote, const VoteOptions& options) {
  const Agreement agreement(*vote.around, vote.of->linear,
                            nearby_distance * options.max_disagreement);
  const Neighbourhood& neighbours = vote.of->neighbours;
  nearby_.clear();
  for (const ViewMatches& of : views_) {
    if (!neighbours.has(of.linear.a, of.linear.b, of.linear.d, of.linear.e)) continue;
    for (const PatchMatch& match : of.matches) {
      if (match.correlation >= options.min_correlation && agreement.with(match)) {
        nearby_.push_back(usable_match(of, match, options));
      }
    }
  }
}

// Counts each patch once, with its best match.
HomographyHypothesis PatchVotes::consensus(const Homography& matrix) {
  HomographyHypothesis result{matrix, 0, 0};
  std::fill(best_correlation_.begin(), best_correlation_.end(), 0.0);
  for (std::size_t i = 0; i < nearby_.size(); ++i) {
    const UsableMatch& strong = nearby_[i];
    const LocalMap here(matrix, strong.reference);
    if (!(squared_distance(here.place, strong.moving) <= strong.square_of_tolerance)) continue;
    const std::size_t window = strong.match->window;
    if (strong.correlation <= best_correlation_[window]) continue;
    best_correlation_[window] = strong.correlation;
    best_match_[window] = i;
  }
  for (const double best : best_correlation_) {
    if (!(best > 0)) continue;
    ++result.windows;
    result.votes += best;
  }
  return result;
}

// Collects the matches that agree with the last homography given to agreed().
void PatchVotes::collect_inliers() {
  inliers_.clear();
  for (std::size_t window = 0; window < best_correlation_.size(); ++window) {
    if (best_correlation_[window] > 0) inliers_.push_back(*nearby_[best_match_[window]].match);
  }
}

HomographyHypothesis PatchVotes::improved(const HomographyHypothesis& known,
                                          std::span<const PatchMatch> matches,
                                          const VoteOptions& options) {
  begin(matches, options);
  nearby_ = matches_;
  const HomographyHypothesis before = consensus(known.matrix);
  const HomographyHypothesis sampled = sampled_homography(samples_of_vote);
  const HomographyHypothesis found = refit(sampled.votes > before.votes ? sampled : before);
  return found.votes > before.votes ? found : before;
}

// Collects the best match of each patch, and the best one at another position.
void PatchVotes::collect_best() {
  nearby_.clear();
  for (std::size_t window = 0; window < best_correlation_.size(); ++window) {
    const std::span<const UsableMatch> strong = matches_of_patch(window);
    const UsableMatch* best = nullptr;
    for (const UsableMatch& one : strong) {
      if (best == nullptr || one.correlation > best->correlation) best = &one;
    }
    if (best == nullptr) continue;
    const double same_place = square(distinct_match_distance) * best->square_of_tolerance;
    const UsableMatch* second = nullptr;
    for (const UsableMatch& one : strong) {
      if (squared_distance(one.moving, best->moving) < same_place) continue;
      if (second == nullptr || one.correlation > second->correlation) second = &one;
    }
    nearby_.push_back(*best);
    if (second != nullptr) nearby_.push_back(*second);
  }
}

// Collects the matches within a few tolerances of the positions that a homography predicts.
void PatchVotes::collect_along(const Homography& matrix) {
  nearby_.clear();
  for (std::size_t window = 0; window < best_correlation_.size(); ++window) {
    const std::span<const UsableMatch> strong = matches_of_patch(window);
    if (strong.empty()) continue;
    const LocalMap here(matrix, strong.front().reference);
    for (const UsableMatch& one : strong) {
      if (squared_distance(here.place, one.moving) <
              square(distinct_match_distance) * one.square_of_tolerance &&
          agrees_with_view(here, one.of->neighbours)) {
        nearby_.push_back(one);
      }
    }
  }
}

// Returns the best homography through four of the collected matches whose rotations and scales it
// reproduces.
HomographyHypothesis PatchVotes::sampled_homography(int samples) {
  Random random;
  HomographyHypothesis best;
  if (nearby_.size() < 4) return best;
  const auto count = static_cast<std::uint32_t>(nearby_.size());
  std::array<const UsableMatch*, 4> sample{};
  std::array<Point, 4> from, to;
  for (int i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      sample[k] = &nearby_[random.below(count)];
      from[k] = sample[k]->reference;
      to[k] = sample[k]->moving;
    }
    const auto matrix = homography_between(from, to);
    if (!matrix) continue;
    const bool views_match =
        std::all_of(sample.begin(), sample.end(), [&](const UsableMatch* strong) {
          return agrees_with_view(LocalMap(*matrix, strong->reference), strong->of->neighbours);
        });
    if (!views_match) continue;
    const HomographyHypothesis found = consensus(*matrix);
    if (found.votes > best.votes) best = found;
  }
  return best;
}

// Refits the homography to all its inliers, which may add inliers, until these no longer change.
HomographyHypothesis PatchVotes::refit(HomographyHypothesis best) {
  if (best.windows < 4) return best;
  collect_along(best.matrix);
  best = consensus(best.matrix);
  for (int i = 0; i < max_growth && best.windows >= 4; ++i) {
    collect_inliers();
    const auto matrix = homography_of(inliers_);
    if (!matrix || !keeps_orientation(*matrix, inliers_)) break;
    collect_along(*matrix);
    const HomographyHypothesis found = consensus(*matrix);
    const bool is_same = found.matrix.h == best.matrix.h;
    if (is_same || found.votes < best.votes) break;
    best = found;
  }
  return best;
}

// Adds the best homography of the collected matches if enough patches agree with it.
void PatchVotes::add_homography(const VoteOptions& options, int samples) {
  const HomographyHypothesis best = refit(sampled_homography(samples));
  if (best.windows >= options.min_inliers) found_.push_back(best);
}

std::span<const HomographyHypothesis> PatchVotes::find(std::span<const PatchMatch> matches,
                                                       const VoteOptions& options) {
  begin(matches, options);
  votes_.clear();
  found_.clear();
  for (const ViewMatches& view : views_) vote(view, options);
  keep_best_votes(options);
  for (const Vote& vote : votes_) {
    collect_near(vote, options);
    add_homography(options, samples_of_vote);
  }
  collect_best();
  add_homography(options, samples_of_best);
  std::sort(found_.begin(), found_.end(),
            [](const HomographyHypothesis& a, const HomographyHypothesis& b) {
              return a.votes > b.votes;
            });
  return found_;
}

}  // namespace warpalign::detail
