// A homography from places at which windows of one image were found in the other.
#include "registration/similarity/window_votes.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace warpalign::detail {

namespace {

// Most of the matches around a vote are right, but few of windows' own best ones may be.
constexpr int samples_of_vote = 600;
constexpr int samples_of_best = 3000;
constexpr int max_growth = 10;
// A second match of a window counts beside its best one where it lies farther off than this, in
// units of the tolerance.
constexpr double distinct_match = 3;
// Relative to the smallest correlation that counts.
constexpr double weightless_correlation = 0.8;
// What takes part in a homography: matches of rotations and scales this far from the vote's, where
// the vote leads to within so many times the disagreement that it allows.
constexpr double nearby_degrees = 31;
constexpr double nearby_scale = 1.6;
constexpr double nearby_distance = 1.5;
// Votes whose shifts differ by less, in units of the disagreement, and whose rotations and scales
// are neighbours, are one.
constexpr double same_vote = 2;

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

// How far the moving point lies, in reference pixels, from where the vote leads the match.
double disagreement(const WindowMatch& vote, const WindowMatch& match) {
  const Point step = vote.view.linear()(
      {match.reference.x - vote.reference.x, match.reference.y - vote.reference.y});
  return distance({vote.moving.x + step.x, vote.moving.y + step.y}, match.moving) / vote.view.scale;
}

bool are_neighbours(const WindowMatch& a, const WindowMatch& b) {
  return are_neighbours(a.view, b.view);
}

// Whether a homography turns and scales a window's surroundings about as the match did.
bool agrees_with_view(const Homography& m, const WindowMatch& match) {
  const Affine here = m.affine_at(match.reference);
  return here.a * here.e - here.b * here.d > 0 && are_neighbours(match.view, view_of(here));
}

// Points shifted and scaled to a mean of 0 and a deviation of about 1.
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

Normalization normalization_of(std::span<const WindowMatch> matches, Point WindowMatch::*point) {
  Normalization result;
  const auto n = static_cast<double>(matches.size());
  for (const WindowMatch& match : matches) {
    result.centre.x += (match.*point).x / n;
    result.centre.y += (match.*point).y / n;
  }
  double spread = 0;
  for (const WindowMatch& match : matches) spread += distance(match.*point, result.centre) / n;
  result.scale = spread > 0 ? 1 / spread : 1;
  return result;
}

// A generator of its own, so that results do not depend on what ran before (Park & Miller 1988).
class Random {
 public:
  std::size_t below(std::size_t n) {
    state_ = state_ * 48271 % 2147483647;
    return static_cast<std::size_t>(state_) % n;
  }

 private:
  std::uint64_t state_ = 20011;
};

// A transform that mirrors or folds the plane is none between two views.
bool keeps_orientation(const Homography& m, std::span<const WindowMatch> matches) {
  return std::all_of(matches.begin(), matches.end(), [&](const WindowMatch& match) {
    const Affine here = m.affine_at(match.reference);
    const double w = m.h[6] * match.reference.x + m.h[7] * match.reference.y + m.h[8];
    return w > 0 && here.a * here.e - here.b * here.d > 0;
  });
}

}  // namespace

bool are_neighbours(const WindowView& a, const WindowView& b) {
  return std::abs(std::remainder(a.rotation_deg - b.rotation_deg, 360)) < nearby_degrees &&
         std::abs(std::log(a.scale / b.scale)) < std::log(nearby_scale) + 1e-9;
}

// By the polar decomposition.
WindowView view_of(const Affine& here) {
  const double degrees = std::atan2(here.b - here.d, here.a + here.e) * 180 / std::numbers::pi;
  return {degrees, scale_of(here), 1, 0};
}

// The stretch is symmetric, so that rotation and scale are those of the polar decomposition.
Affine WindowView::linear() const {
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

// With the last number 1, the equations of each match are linear in the other eight (direct linear
// transform, with Hartley's normalization, 1997).
std::optional<Homography> homography_of(std::span<const WindowMatch> matches) {
  if (matches.size() < 4) return std::nullopt;
  const Normalization from = normalization_of(matches, &WindowMatch::reference);
  const Normalization to = normalization_of(matches, &WindowMatch::moving);
  std::array<double, 64> h{};
  std::array<double, 8> b{};
  for (const WindowMatch& match : matches) {
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
  Homography result = Homography(to.matrix().inverse()) * normalized * from.matrix();
  if (result.h[8] == 0 || !std::isfinite(result.h[8])) return std::nullopt;
  const double last = result.h[8];
  for (double& value : result.h) value /= last;
  return result;
}

// Adds the votes of one view: for each match, how much the others agree with it.
void WindowVotes::vote(std::span<const WindowMatch> of_one, const VoteOptions& options) {
  for (const WindowMatch& around : of_one) {
    if (around.correlation < options.min_correlation) continue;
    Vote vote{around, 0};
    for (const WindowMatch& match : of_one) {
      const double excess = match.correlation - weightless_correlation * options.min_correlation;
      if (excess > 0 && disagreement(around, match) < options.max_disagreement) {
        vote.votes += excess;
      }
    }
    votes_.push_back(vote);
  }
}

void WindowVotes::gather(std::span<const WindowMatch> matches, const Vote& vote,
                         const VoteOptions& options) {
  nearby_.clear();
  for (const WindowMatch& match : matches) {
    if (match.correlation >= options.min_correlation && are_neighbours(match, vote.around) &&
        disagreement(vote.around, match) < nearby_distance * options.max_disagreement) {
      nearby_.push_back(match);
    }
  }
}

// Each window counts once, with its best match.
AgreedHomography WindowVotes::agreed(const Homography& matrix, const VoteOptions& options,
                                     bool keep_inliers) {
  AgreedHomography result{matrix, 0, 0};
  std::fill(best_of_window_.begin(), best_of_window_.end(), 0.0);
  for (std::size_t i = 0; i < nearby_.size(); ++i) {
    const WindowMatch& match = nearby_[i];
    if (distance(matrix(match.reference), match.moving) > options.tolerance * match.view.scale)
      continue;
    if (match.correlation <= best_of_window_[match.window]) continue;
    best_of_window_[match.window] = match.correlation;
    match_of_window_[match.window] = i;
  }
  if (keep_inliers) inliers_.clear();
  for (std::size_t window = 0; window < best_of_window_.size(); ++window) {
    if (!(best_of_window_[window] > 0)) continue;
    ++result.windows;
    result.votes += best_of_window_[window];
    if (keep_inliers) inliers_.push_back(nearby_[match_of_window_[window]]);
  }
  return result;
}

void WindowVotes::begin(std::span<const WindowMatch> matches) {
  std::size_t windows = 0;
  for (const WindowMatch& match : matches) windows = std::max(windows, match.window + 1);
  best_of_window_.assign(windows, 0);
  match_of_window_.assign(windows, 0);
}

AgreedHomography WindowVotes::improved(const AgreedHomography& known,
                                       std::span<const WindowMatch> matches,
                                       const VoteOptions& options) {
  begin(matches);
  nearby_.clear();
  for (const WindowMatch& match : matches) {
    if (match.correlation >= options.min_correlation) nearby_.push_back(match);
  }
  const AgreedHomography before = agreed(known.matrix, options, false);
  const AgreedHomography sampled = sampled_homography(options, samples_of_vote);
  const AgreedHomography found =
      grown(sampled.votes > before.votes ? sampled : before, matches, options);
  return found.votes > before.votes ? found : before;
}

// Of each window the best match, and the best one at another place.
void WindowVotes::gather_best(std::span<const WindowMatch> matches, const VoteOptions& options) {
  const std::size_t windows = best_of_window_.size();
  nearby_.clear();
  for (std::size_t window = 0; window < windows; ++window) {
    const WindowMatch* best = nullptr;
    for (const WindowMatch& match : matches) {
      if (match.window != window || match.correlation < options.min_correlation) continue;
      if (best == nullptr || match.correlation > best->correlation) best = &match;
    }
    if (best == nullptr) continue;
    const WindowMatch* second = nullptr;
    for (const WindowMatch& match : matches) {
      if (match.window != window || match.correlation < options.min_correlation) continue;
      if (distance(match.moving, best->moving) <
          distinct_match * options.tolerance * best->view.scale) {
        continue;
      }
      if (second == nullptr || match.correlation > second->correlation) second = &match;
    }
    nearby_.push_back(*best);
    if (second != nullptr) nearby_.push_back(*second);
  }
}

// The matches that a homography leads to within a few tolerances.
void WindowVotes::gather_along(std::span<const WindowMatch> matches, const Homography& matrix,
                               const VoteOptions& options) {
  nearby_.clear();
  for (const WindowMatch& match : matches) {
    if (match.correlation >= options.min_correlation &&
        distance(matrix(match.reference), match.moving) <
            distinct_match * options.tolerance * match.view.scale &&
        agrees_with_view(matrix, match)) {
      nearby_.push_back(match);
    }
  }
}

// The best homography of four of the gathered matches, each of which must be turned and scaled as
// it says.
AgreedHomography WindowVotes::sampled_homography(const VoteOptions& options, int samples) {
  Random random;
  AgreedHomography best;
  if (nearby_.size() < 4) return best;
  std::array<WindowMatch, 4> sample;
  for (int i = 0; i < samples; ++i) {
    for (WindowMatch& match : sample) match = nearby_[random.below(nearby_.size())];
    const auto matrix = homography_of(sample);
    if (!matrix || !keeps_orientation(*matrix, sample)) continue;
    const bool as_seen = std::all_of(sample.begin(), sample.end(), [&](const WindowMatch& match) {
      return agrees_with_view(*matrix, match);
    });
    if (!as_seen) continue;
    const AgreedHomography found = agreed(*matrix, options, false);
    if (found.votes > best.votes) best = found;
  }
  return best;
}

// The homography of all matches that agree with a homography may have more of them, and so on.
AgreedHomography WindowVotes::grown(AgreedHomography best, std::span<const WindowMatch> matches,
                                    const VoteOptions& options) {
  for (int i = 0; i < max_growth && best.windows >= 4; ++i) {
    gather_along(matches, best.matrix, options);
    best = agreed(best.matrix, options, true);
    const auto matrix = homography_of(inliers_);
    if (!matrix || !keeps_orientation(*matrix, inliers_)) break;
    gather_along(matches, *matrix, options);
    const AgreedHomography found = agreed(*matrix, options, false);
    if (found.votes < best.votes) break;
    best = found;
  }
  return best;
}

// Adds the best homography of the gathered matches if enough windows agree with it.
void WindowVotes::add_homography(std::span<const WindowMatch> matches, const VoteOptions& options,
                                 int samples) {
  const AgreedHomography best = grown(sampled_homography(options, samples), matches, options);
  if (best.windows >= options.min_windows) found_.push_back(best);
}

std::span<const AgreedHomography> WindowVotes::find(std::span<const WindowMatch> matches,
                                                    const VoteOptions& options) {
  votes_.clear();
  found_.clear();
  for (std::size_t first = 0; first < matches.size();) {
    std::size_t last = first;
    while (last < matches.size() && matches[last].view == matches[first].view) ++last;
    vote(matches.subspan(first, last - first), options);
    first = last;
  }
  std::sort(votes_.begin(), votes_.end(),
            [](const Vote& a, const Vote& b) { return a.votes > b.votes; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < votes_.size() && kept < options.maximum; ++i) {
    const bool known = std::any_of(
        votes_.begin(), votes_.begin() + static_cast<std::ptrdiff_t>(kept), [&](const Vote& other) {
          return are_neighbours(votes_[i].around, other.around) &&
                 disagreement(other.around, votes_[i].around) <
                     same_vote * options.max_disagreement;
        });
    if (known) continue;
    votes_[kept++] = votes_[i];
  }
  votes_.resize(kept);
  begin(matches);
  for (const Vote& vote : votes_) {
    gather(matches, vote, options);
    add_homography(matches, options, samples_of_vote);
  }
  gather_best(matches, options);
  add_homography(matches, options, samples_of_best);
  std::sort(found_.begin(), found_.end(),
            [](const AgreedHomography& a, const AgreedHomography& b) { return a.votes > b.votes; });
  return found_;
}

}  // namespace warpalign::detail
