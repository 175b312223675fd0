// Finds homographies from matches of local features.
#include "registration/features/feature_homographies.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>

namespace warpalign::detail {

namespace {

// In units of the larger side of an image.
constexpr double duplicate_distance = 0.006;

constexpr std::size_t max_samples = 100000;
constexpr std::size_t sample_draws = 4;
// The number of samples drawn before the best ones are evaluated. One thread uses a small block,
// because images that share a plane mostly need no more; several threads use a large block.
constexpr std::size_t block = 512;
constexpr std::size_t shared_block = 16384;
constexpr std::size_t max_homographies = 3;
constexpr std::size_t min_matches = 8;
constexpr int max_growth = 10;
// An inlier of a homography must agree closely in one image and roughly in the other, in which the
// plane may appear many times as long. In units of the larger side.
constexpr double close_distance = 0.004;
constexpr double rough_distance = 0.016;

bool are_near(Point a, Point b, double most) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) < most * most;
}

// Tests whether matches are inliers of a homography.
class Agreement {
 public:
  Agreement(const Homography& matrix, const LargerSides& sides)
      : forth_(matrix), back_(matrix.inverse()), sides_(sides) {}

  [[nodiscard]] bool with(const FeatureMatch& match) const {
    const LocalMap there(forth_, match.reference);
    if (!are_near(there.place, match.moving, rough_distance * sides_.moving)) return false;
    if (!(there.w * forth_.h[8] > 0 && there.area() > 0)) return false;
    const LocalMap here(back_, match.moving);
    if (!are_near(here.place, match.reference, rough_distance * sides_.reference)) return false;
    return are_near(there.place, match.moving, close_distance * sides_.moving) ||
           are_near(here.place, match.reference, close_distance * sides_.reference);
  }

  /// Returns the number of inliers, or a smaller number if there are at most `enough`.
  [[nodiscard]] std::size_t count(const std::vector<FeatureMatch>& matches,
                                  std::size_t enough) const {
    std::size_t agree = 0;
    for (std::size_t i = 0; i < matches.size() && agree + matches.size() - i > enough; ++i) {
      if (with(matches[i])) ++agree;
    }
    return agree;
  }

 private:
  Homography forth_, back_;
  LargerSides sides_;
};

// Returns the number of samples of four matches after which one of them consists of inliers, with a
// failure probability of 1e-9, if the best homography found has all the inliers (Fischler & Bolles
// 1981).
std::size_t required_samples(std::size_t agree, std::size_t matches) {
  constexpr double never = 1e-9;
  const double all_right = std::pow(static_cast<double>(agree) / static_cast<double>(matches), 4);
  const double needed = std::log(never) / std::log1p(-std::min(all_right, 0.999));
  return needed < static_cast<double>(max_samples) ? static_cast<std::size_t>(needed) + 1
                                                   : max_samples;
}

void fill(MatchColumns& columns, const std::vector<FeatureMatch>& matches) {
  const auto put = [&](std::vector<float>& column, auto coordinate) {
    column.clear();
    for (const FeatureMatch& match : matches) {
      column.push_back(static_cast<float>(coordinate(match)));
    }
  };
  put(columns.reference_x, [](const FeatureMatch& match) { return match.reference.x; });
  put(columns.reference_y, [](const FeatureMatch& match) { return match.reference.y; });
  put(columns.moving_x, [](const FeatureMatch& match) { return match.moving.x; });
  put(columns.moving_y, [](const FeatureMatch& match) { return match.moving.y; });
}

// Returns the number of matches that a homography maps roughly to their moving position, which
// includes all its inliers.
int count_near(const MatchColumns& columns, const Homography& matrix, double moving_side) {
  std::array<float, 9> h{};
  std::transform(matrix.h.begin(), matrix.h.end(), h.begin(),
                 [](double value) { return static_cast<float>(value); });
  constexpr double for_rounding = 1.01;
  const auto most = static_cast<float>(rough_distance * moving_side * for_rounding);
  const float square = most * most;
  int count = 0;
  for (std::size_t i = 0; i < columns.moving_x.size(); ++i) {
    const float x = columns.reference_x[i];
    const float y = columns.reference_y[i];
    // Multiplies the distances by the divisor, which avoids a division.
    const float w = h[6] * x + h[7] * y + h[8];
    const float u = h[0] * x + h[1] * y + h[2] - w * columns.moving_x[i];
    const float v = h[3] * x + h[4] * y + h[5] - w * columns.moving_y[i];
    count += u * u + v * v < square * (w * w) ? 1 : 0;
  }
  return count;
}

// Returns a pseudo-random number from 0 to before `end`, identical on all platforms (Steele, Lea &
// Flood 2014). It depends only on its position in the sequence, so that samples may be drawn in any
// order.
std::size_t random_below(std::size_t end, std::uint64_t position) {
  constexpr std::uint64_t seed = 20011;
  std::uint64_t z = seed + (position + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return static_cast<std::size_t>(((z >> 32U) * end) >> 32U);
}

bool is_more_distinctive(const FeatureMatch& a, const FeatureMatch& b) {
  return std::tuple(a.ratio, a.reference.x, a.reference.y, a.moving.x, a.moving.y) <
         std::tuple(b.ratio, b.reference.x, b.reference.y, b.moving.x, b.moving.y);
}

}  // namespace

void keep_distinct(std::vector<FeatureMatch>& matches, const LargerSides& sides) {
  std::sort(matches.begin(), matches.end(), is_more_distinctive);
  std::size_t kept = 0;
  for (const FeatureMatch& match : matches) {
    const auto end = matches.begin() + static_cast<std::ptrdiff_t>(kept);
    const bool known = std::any_of(matches.begin(), end, [&](const FeatureMatch& other) {
      return are_near(match.reference, other.reference, duplicate_distance * sides.reference) &&
             are_near(match.moving, other.moving, duplicate_distance * sides.moving);
    });
    if (!known) matches[kept++] = match;
  }
  matches.resize(kept);
}

std::span<const Homography> HomographySampling::find(std::vector<FeatureMatch>& matches,
                                                     const LargerSides& sides,
                                                     ParallelFor* parallel_for) {
  sides_ = sides;
  parallel_for_ = parallel_for;
  drawn_ = 0;
  found_.clear();
  while (found_.size() < max_homographies) {
    const auto best = extract_best(matches);
    if (!best) break;
    found_.push_back(*best);
  }
  return found_;
}

// Returns the homography with the most inliers, and removes these from `matches`.
std::optional<Homography> HomographySampling::extract_best(std::vector<FeatureMatch>& matches) {
  if (matches.size() < min_matches) return std::nullopt;
  const Hypothesis best = sample_best(matches);
  if (best.matches < min_matches) return std::nullopt;
  const Agreement agreement(best.matrix, sides_);
  std::erase_if(matches, [&](const FeatureMatch& match) { return agreement.with(match); });
  return best.matrix;
}

// Samples the most distinctive matches first, and gradually more of them (PROSAC: Chum & Matas
// 2005). Refines each new best homography at once (Chum, Matas & Kittler 2003).
HomographySampling::Hypothesis HomographySampling::sample_best(
    const std::vector<FeatureMatch>& matches) {
  Hypothesis best;
  std::size_t most = 1;  // inliers before refinement
  fill(columns_, matches);
  std::size_t samples = max_samples;
  std::uint64_t drawn = 0;
  std::size_t end = 0;  // end of the block of samples for which inlier_counts_ is known
  std::size_t first = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    if (i == end) {
      first = end;
      end =
          std::min(samples, first + (parallel_for_ != nullptr && first > 0 ? shared_block : block));
      count_inliers(matches, first, end, most);
    }
    drawn += sample_draws;
    const std::size_t agree = inlier_counts_[i - first];
    if (agree < most) continue;
    const auto matrix = homography_of_sample(matches, i);
    if (!matrix) continue;
    most = agree;
    const Hypothesis found = refit({*matrix, agree}, matches);
    if (found.matches <= best.matches) continue;
    best = found;
    samples = required_samples(best.matches, matches.size());
  }
  drawn_ += drawn;
  return best;
}

// Sets inlier_counts_ for a block of samples to the number of inliers, or to fewer than `least` if
// there are not that many.
void HomographySampling::count_inliers(const std::vector<FeatureMatch>& matches, std::size_t first,
                                       std::size_t end, std::size_t least) {
  inlier_counts_.resize(end - first);
  const auto count = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const auto matrix = homography_of_sample(matches, i);
      const bool near =
          matrix && count_near(columns_, *matrix, sides_.moving) >= static_cast<int>(least);
      inlier_counts_[i - first] = near ? Agreement(*matrix, sides_).count(matches, least - 1) : 0;
    }
  };
  if (parallel_for_ != nullptr && end - first > block) {
    parallel_for_->run(first, end, count);
  } else {
    count(first, end);
  }
}

// Refits the homography to its inliers while their number grows.
HomographySampling::Hypothesis HomographySampling::refit(Hypothesis best,
                                                         const std::vector<FeatureMatch>& matches) {
  collect_inliers(best.matrix, matches);
  for (int i = 0; i < max_growth; ++i) {
    const auto next = homography_of(inliers_);
    if (!next) break;
    const std::size_t count = collect_inliers(*next, matches);
    if (count < best.matches) break;
    const bool same = count == best.matches;
    best = {*next, count};
    if (same) break;
  }
  return best;
}

// Returns the homography of four matches from the head of the list.
std::optional<Homography> HomographySampling::homography_of_sample(
    const std::vector<FeatureMatch>& matches, std::size_t sample) const {
  const std::size_t others = matches.size() - min_matches;
  const std::size_t head = min_matches + others * (sample + 1) / max_samples;
  std::array<Point, sample_draws> from, to;
  for (std::size_t k = 0; k < sample_draws; ++k) {
    const std::uint64_t position = drawn_ + sample_draws * sample + k;
    const FeatureMatch& match = matches[random_below(head, position)];
    from.at(k) = match.reference;
    to.at(k) = match.moving;
  }
  return homography_between(from, to);
}

// Collects the inliers in inliers_ and returns their number.
std::size_t HomographySampling::collect_inliers(const Homography& matrix,
                                                const std::vector<FeatureMatch>& matches) {
  inliers_.clear();
  const Agreement agreement(matrix, sides_);
  for (const FeatureMatch& match : matches) {
    if (!agreement.with(match)) continue;
    PatchMatch inlier;
    inlier.reference = match.reference;
    inlier.moving = match.moving;
    inliers_.push_back(inlier);
  }
  return inliers_.size();
}

}  // namespace warpalign::detail
