// A homography from places at which windows of one image were found in the other.
#include "registration/similarity/window_votes.hpp"

#include "registration/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {

namespace {

constexpr int samples = 600;
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

// The part of the similarity that rotation and scale are.
Point turned(Point p, double rotation_deg, double scale) {
  const Affine linear = Similarity{rotation_deg, scale, {}}.matrix({1, 1, 1}, {1, 1, 1});
  return linear(p);
}

// How far the moving point lies, in reference pixels, from where the vote leads the match.
double disagreement(const WindowMatch& vote, const WindowMatch& match) {
  const Point step =
      turned({match.reference.x - vote.reference.x, match.reference.y - vote.reference.y},
             vote.rotation_deg, vote.scale);
  return distance({vote.moving.x + step.x, vote.moving.y + step.y}, match.moving) / vote.scale;
}

bool are_neighbours(const WindowMatch& a, const WindowMatch& b) {
  return std::abs(std::remainder(a.rotation_deg - b.rotation_deg, 360)) < nearby_degrees &&
         std::abs(std::log(a.scale / b.scale)) < std::log(nearby_scale) + 1e-9;
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

// Adds the votes of one rotation and scale: for each match, how much the others agree with it.
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
    if (distance(matrix(match.reference), match.moving) > options.tolerance * match.scale) continue;
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

std::optional<AgreedHomography> WindowVotes::best_homography(const VoteOptions& options) {
  if (nearby_.size() < 4) return std::nullopt;
  std::size_t windows = 0;
  for (const WindowMatch& match : nearby_) windows = std::max(windows, match.window + 1);
  best_of_window_.assign(windows, 0);
  match_of_window_.assign(windows, 0);
  Random random;
  AgreedHomography best;
  std::array<WindowMatch, 4> sample;
  for (int i = 0; i < samples; ++i) {
    for (WindowMatch& match : sample) match = nearby_[random.below(nearby_.size())];
    const auto matrix = homography_of(sample);
    if (!matrix || !keeps_orientation(*matrix, sample)) continue;
    const AgreedHomography found = agreed(*matrix, options, false);
    if (found.votes > best.votes) best = found;
  }
  // The inliers' own homography may have more of them.
  for (int i = 0; i < 5 && best.windows >= 4; ++i) {
    best = agreed(best.matrix, options, true);
    const auto matrix = homography_of(inliers_);
    if (!matrix || !keeps_orientation(*matrix, inliers_)) break;
    const AgreedHomography found = agreed(*matrix, options, false);
    if (found.votes < best.votes) break;
    best = found;
  }
  if (best.windows < options.min_windows) return std::nullopt;
  return best;
}

std::span<const AgreedHomography> WindowVotes::find(std::span<const WindowMatch> matches,
                                                    const VoteOptions& options) {
  votes_.clear();
  found_.clear();
  for (std::size_t first = 0; first < matches.size();) {
    std::size_t last = first;
    while (last < matches.size() && matches[last].rotation_deg == matches[first].rotation_deg &&
           matches[last].scale == matches[first].scale) {
      ++last;
    }
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
  for (const Vote& vote : votes_) {
    gather(matches, vote, options);
    if (const auto homography = best_homography(options)) found_.push_back(*homography);
  }
  std::sort(found_.begin(), found_.end(),
            [](const AgreedHomography& a, const AgreedHomography& b) { return a.votes > b.votes; });
  return found_;
}

}  // namespace warpalign::detail
