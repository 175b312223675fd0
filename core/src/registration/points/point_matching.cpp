// Finds the similarity between two sets of point sources.
#include "registration/points/point_matching.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace warpalign::detail {

namespace {

using Complex = std::complex<double>;

// Pairs of these many of the brightest sources are tried.
constexpr std::size_t tried_sources = 40;
constexpr std::size_t tried_for_shifts = 150;
// A pose is counted with these many first; with less than two matches beyond its own it is dropped.
constexpr std::size_t first_counted = 16;
constexpr std::size_t counted = 80;
constexpr int min_first_matches = 4;
// The map of near sources has at most this many cells along an axis, so that it stays in a cache.
constexpr double map_side = 256;
constexpr std::size_t kept_poses = 24;
// Pairs closer than this fraction of the larger side determine no rotation.
constexpr double min_length = 0.08;
// The radius of matches, in pixels of the moving image: of a pose from two sources, and the limits
// of that of a fitted pose.
constexpr double coarse_radius = 3;
constexpr double min_radius = 1;
constexpr double max_radius = 3;
constexpr double deviations = 3.5;
// Poses closer than this at the corners, in pixels, are one.
constexpr double same_pose = 8;
constexpr int max_refinements = 8;
constexpr std::size_t min_matches = 4;
// Unrelated sources reach a significant pose in this fraction of searches.
constexpr double false_match_rate = 1e-4;

Complex complex_of(Point p) { return {p.x, p.y}; }

Affine affine_of(Complex factor, Complex shift) {
  return {factor.real(), -factor.imag(), shift.real(), factor.imag(), factor.real(), shift.imag()};
}

// The z-score of a probability, of which the logarithm is given; 0 for a probability above 1 %.
double z_score_of(double log_probability) {
  if (!(log_probability < std::log(0.01))) return 0;
  double x = std::sqrt(-2 * log_probability);
  for (int i = 0; i < 20; ++i) {
    x = std::sqrt(-2 * (log_probability + std::log(x * std::sqrt(2 * std::numbers::pi))));
  }
  return x;
}

// The logarithm of the probability of `count` or more where `expected` are, by Poisson's law.
double log_tail(double count, double expected) {
  if (!(count > expected) || !(expected > 0)) return 0;
  return count * std::log(expected) - expected - std::lgamma(count + 1) -
         std::log(1 - expected / (count + 1));
}

}  // namespace

void PointMatching::set_cells() {
  const double side = static_cast<double>(std::max(moving_shape_.width, moving_shape_.height));
  cell_ = std::max(max_radius, side / 128);
  columns_ = static_cast<std::int64_t>(static_cast<double>(moving_shape_.width) / cell_) + 1;
  rows_ = static_cast<std::int64_t>(static_cast<double>(moving_shape_.height) / cell_) + 1;
  const auto cell_of = [&](Point p) {
    const auto x =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(p.x / cell_), 0, columns_ - 1);
    const auto y = std::clamp<std::int64_t>(static_cast<std::int64_t>(p.y / cell_), 0, rows_ - 1);
    return static_cast<std::size_t>(y * columns_ + x);
  };
  starts_.assign(static_cast<std::size_t>(columns_ * rows_) + 1, 0);
  for (const PointSource& source : moving_) ++starts_[cell_of(source.place) + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  order_.resize(moving_.size());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  for (std::size_t i = 0; i < moving_.size(); ++i) order_[next[cell_of(moving_[i].place)]++] = i;
}

// Calls use(index, squared distance) for the moving sources within a radius.
template <class Use>
void PointMatching::for_near(Point place, double radius, Use use) const {
  const auto at = [&](double value, std::int64_t cells) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(value / cell_)), 0,
                                    cells - 1);
  };
  const std::int64_t left = at(place.x - radius, columns_);
  const std::int64_t right = at(place.x + radius, columns_);
  const std::int64_t bottom = at(place.y + radius, rows_);
  for (std::int64_t y = at(place.y - radius, rows_); y <= bottom; ++y) {
    const auto row = static_cast<std::size_t>(y * columns_);
    const std::size_t end = starts_[row + static_cast<std::size_t>(right) + 1];
    for (std::size_t k = starts_[row + static_cast<std::size_t>(left)]; k < end; ++k) {
      const double squared = squared_distance(place, moving_[order_[k]].place);
      if (squared <= radius * radius) use(order_[k], squared);
    }
  }
}

void PointMatching::mark_near() {
  const double side = static_cast<double>(std::max(moving_shape_.width, moving_shape_.height));
  spacing_ = std::max(1.0, side / map_side);
  const auto cells = [&](std::int64_t pixels) {
    return static_cast<std::int64_t>(static_cast<double>(pixels - 1) / spacing_) + 1;
  };
  map_width_ = cells(moving_shape_.width);
  map_height_ = cells(moving_shape_.height);
  near_.assign(static_cast<std::size_t>(map_width_ * map_height_), 0);
  const auto cell = [&](double at, std::int64_t count) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at / spacing_)), 0,
                                    count - 1);
  };
  for (const PointSource& source : moving_) {
    const Point p = source.place;
    for (std::int64_t y = cell(p.y - coarse_radius, map_height_);
         y <= cell(p.y + coarse_radius, map_height_); ++y) {
      for (std::int64_t x = cell(p.x - coarse_radius, map_width_);
           x <= cell(p.x + coarse_radius, map_width_); ++x) {
        near_[static_cast<std::size_t>(y * map_width_ + x)] = 1;
      }
    }
  }
}

// Whether at least `least` of the first `most` sources of the reference may match.
bool PointMatching::may_reach(const Affine& pose, std::size_t most, int least) const {
  // In cells of the map; inline, because most of the time of a match goes by here.
  const double inverse = 1 / spacing_;
  const double a = pose.a * inverse;
  const double b = pose.b * inverse;
  const double c = pose.c * inverse;
  const double d = pose.d * inverse;
  const double e = pose.e * inverse;
  const double f = pose.f * inverse;
  const auto right = static_cast<double>(map_width_);
  const auto bottom = static_cast<double>(map_height_);
  auto left = static_cast<int>(most);
  int found = 0;
  for (const PointSource& source : reference_.first(most)) {
    if (found + left < least) return false;
    --left;
    const double x = a * source.place.x + b * source.place.y + c;
    const double y = d * source.place.x + e * source.place.y + f;
    if (!(x >= 0 && y >= 0 && x < right && y < bottom)) continue;
    found += near_[static_cast<std::size_t>(static_cast<std::int64_t>(y) * map_width_ +
                                            static_cast<std::int64_t>(x))];
  }
  return found >= least;
}

// The number of moving sources near one of the reference; less than `least` if it is less.
int PointMatching::count(const Affine& pose, int least) {
  ++counts_;
  int found = 0;
  auto left = static_cast<int>(std::min(reference_.size(), counted));
  for (const PointSource& source : reference_.first(static_cast<std::size_t>(left))) {
    if (found + left < least) return found;
    --left;
    const Point place = pose(source.place);
    if (!is_inside(place, moving_shape_)) continue;
    for_near(place, coarse_radius, [&](std::size_t i, double) {
      if (seen_[i] == counts_) return;
      seen_[i] = counts_;
      ++found;
    });
  }
  return found;
}

void PointMatching::try_pose(const Affine& pose) {
  const int least = best_.size() < kept_poses ? 1 : best_.back().matched + 1;
  const std::size_t all = std::min(reference_.size(), counted);
  if (all > 2 * first_counted && !may_reach(pose, first_counted, min_first_matches)) return;
  if (!may_reach(pose, all, least)) return;
  if (motion_->allows && !motion_->allows(pose)) return;
  const int matched = count(pose, least);
  if (matched >= least) keep({pose, matched});
}

// Keeps the poses with the most matches, the first of about equal ones.
void PointMatching::keep(const Pose& pose) {
  for (Pose& other : best_) {
    if (corner_distance(other.matrix, pose.matrix, reference_shape_) > same_pose) continue;
    if (pose.matched > other.matched) other = pose;
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Pose& a, const Pose& b) { return a.matched > b.matched; });
    return;
  }
  const auto at =
      std::upper_bound(best_.begin(), best_.end(), pose,
                       [](const Pose& a, const Pose& b) { return a.matched > b.matched; });
  best_.insert(at, pose);
  if (best_.size() > kept_poses) best_.pop_back();
}

// Returns the number of trials, as try_pairs() does.
double PointMatching::try_shifts() {
  double trials = 0;
  const auto reference = reference_.first(std::min(reference_.size(), tried_for_shifts));
  const auto moving = moving_.first(std::min(moving_.size(), tried_for_shifts));
  for (const PointSource& from : reference) {
    for (const PointSource& to : moving) {
      ++trials;
      try_pose(Affine::translation(to.place.x - from.place.x, to.place.y - from.place.y));
    }
  }
  return trials;
}

double PointMatching::try_pairs() {
  struct Pair {
    Complex from, along;
    double length;
  };
  const auto pairs_of = [](std::span<const PointSource> sources, double least, bool both_ways) {
    const auto brightest = sources.first(std::min(sources.size(), tried_sources));
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < brightest.size(); ++i) {
      for (std::size_t k = both_ways ? 0 : i + 1; k < brightest.size(); ++k) {
        const Complex from = complex_of(brightest[i].place);
        const Complex along = complex_of(brightest[k].place) - from;
        const double length = std::abs(along);
        if (i != k && length >= least) pairs.push_back({from, along, length});
      }
    }
    return pairs;
  };
  const auto side = [](const Shape& shape) {
    return static_cast<double>(std::max(shape.width, shape.height));
  };
  const auto from = pairs_of(reference_, min_length * side(reference_shape_), false);
  auto to = pairs_of(moving_, min_length * side(moving_shape_), true);
  std::stable_sort(to.begin(), to.end(),
                   [](const Pair& a, const Pair& b) { return a.length < b.length; });
  double trials = 0;
  for (const Pair& a : from) {
    const double slack = motion_->scales ? 0 : 2 * coarse_radius;
    const double shortest = (motion_->scales ? motion_->min_scale : 1) * a.length - slack;
    const double longest = (motion_->scales ? motion_->max_scale : 1) * a.length + slack;
    const Complex inverse = std::conj(a.along) / std::norm(a.along);
    auto b = std::lower_bound(to.begin(), to.end(), shortest,
                              [](const Pair& pair, double length) { return pair.length < length; });
    for (; b != to.end() && b->length <= longest; ++b) {
      ++trials;
      Complex factor = b->along * inverse;
      if (!motion_->scales) factor /= std::abs(factor);
      const Complex middle = a.from + a.along / 2.0;
      try_pose(affine_of(factor, b->from + b->along / 2.0 - factor * middle));
    }
  }
  return trials;
}

double PointMatching::radius_of(const PointSource& a, const PointSource& b, double scale) const {
  const double variance = scale * scale * a.variance + b.variance + scatter_;
  return std::clamp(deviations * std::sqrt(variance), min_radius, max_radius);
}

// Matches each source of the reference with the nearest of the moving image, one to one. The radius
// is that of both sources, unless one is given.
void PointMatching::find_matches(const Affine& pose, double fixed_radius) {
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  const double scale = std::hypot(pose.a, pose.d);
  std::vector<Match> of_moving(moving_.size(), {none, none, INFINITY});
  for (std::size_t i = 0; i < reference_.size(); ++i) {
    const Point place = pose(reference_[i].place);
    Match nearest{i, none, INFINITY};
    for_near(place, max_radius, [&](std::size_t k, double squared) {
      const double radius =
          fixed_radius > 0 ? fixed_radius : radius_of(reference_[i], moving_[k], scale);
      if (squared > radius * radius || squared >= nearest.distance) return;
      nearest = {i, k, squared};
    });
    if (nearest.moving == none) continue;
    Match& match = of_moving[nearest.moving];
    if (nearest.distance < match.distance) match = nearest;
  }
  matches_.clear();
  for (const Match& match : of_moving) {
    if (match.reference != none) matches_.push_back(match);
  }
}

// The least-squares fit to the matches, each weighted by the inverse of its variance. Sets the
// scatter beyond the variances of the sources, such as that of distortion.
Affine PointMatching::fitted(double scale) {
  Complex factor = 1;
  Complex shift = 0;
  const auto variance_of = [&](const Match& match) {
    return scale * scale * reference_[match.reference].variance + moving_[match.moving].variance;
  };
  const auto fit = [&] {
    Complex from = 0;
    Complex to = 0;
    double all = 0;
    for (const Match& match : matches_) {
      const double weight = 1 / (variance_of(match) + scatter_);
      from += weight * complex_of(reference_[match.reference].place);
      to += weight * complex_of(moving_[match.moving].place);
      all += weight;
    }
    from /= all;
    to /= all;
    Complex product = 0;
    double squares = 0;
    for (const Match& match : matches_) {
      const double weight = 1 / (variance_of(match) + scatter_);
      const Complex p = complex_of(reference_[match.reference].place) - from;
      product += weight * std::conj(p) * (complex_of(moving_[match.moving].place) - to);
      squares += weight * std::norm(p);
    }
    factor = motion_->rotates && squares > 0 ? product / squares : Complex(1);
    if (!motion_->scales && std::abs(factor) > 0) factor /= std::abs(factor);
    shift = to - factor * from;
  };
  // The scatter at which the normalized residuals have their degrees of freedom.
  const double freedom = std::max(2 * static_cast<double>(matches_.size()) - 2 * parameters(), 1.0);
  scatter_ = 0;
  fit();
  const auto excess = [&](double scatter) {
    double sum = 0;
    for (const Match& match : matches_) {
      const Complex residual = factor * complex_of(reference_[match.reference].place) + shift -
                               complex_of(moving_[match.moving].place);
      sum += std::norm(residual) / (variance_of(match) + scatter + 1e-12);
    }
    return sum - freedom;
  };
  // Chance makes the sum larger by its deviation.
  const double by_chance = 2 * std::sqrt(2 * freedom);
  if (excess(0) > by_chance) {
    double low = 0;
    double high = max_radius * max_radius;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (excess(middle) > 0 ? low : high) = middle;
    }
    scatter_ = high;
    fit();
  }
  return affine_of(factor, shift);
}

std::optional<PointAgreement> PointMatching::refined(const Pose& start) {
  PointAgreement found;
  found.matrix = start.matrix;
  scatter_ = 0;
  std::vector<Match> before;
  for (int i = 0; i < max_refinements; ++i) {
    find_matches(found.matrix, i == 0 ? coarse_radius : 0);
    if (matches_.size() < min_matches) return std::nullopt;
    const bool same = std::equal(matches_.begin(), matches_.end(), before.begin(), before.end(),
                                 [](const Match& a, const Match& b) {
                                   return a.reference == b.reference && a.moving == b.moving;
                                 });
    if (i > 1 && same) break;
    before = matches_;
    found.matrix = fitted(std::hypot(found.matrix.a, found.matrix.d));
  }
  const double scale = std::hypot(found.matrix.a, found.matrix.d);
  if (motion_->scales && !(scale >= motion_->min_scale && scale <= motion_->max_scale)) {
    return std::nullopt;
  }
  if (motion_->allows && !motion_->allows(found.matrix)) return std::nullopt;
  found.matched = static_cast<int>(matches_.size());
  set_significance(found);
  return found;
}

// Unrelated sources lie at random: the number of matches by chance follows Poisson's law. Where
// sources crowd, more match, so the density is measured around them, too.
void PointMatching::set_significance(PointAgreement& found) const {
  const double scale = std::hypot(found.matrix.a, found.matrix.d);
  const auto area = static_cast<double>(moving_shape_.plane());
  const auto sources = static_cast<double>(moving_.size());
  const double wide = std::sqrt(2 * area / (std::numbers::pi * sources));
  double even = 0;
  double near = 0;
  std::vector<bool> is_matched(reference_.size(), false);
  for (const Match& match : matches_) is_matched[match.reference] = true;
  for (std::size_t i = 0; i < reference_.size(); ++i) {
    const Point place = found.matrix(reference_[i].place);
    if (!is_inside(place, moving_shape_)) continue;
    ++found.common;
    double mean = 0;  // squared radius
    for (const PointSource& other : moving_) {
      const double radius = radius_of(reference_[i], other, scale);
      mean += radius * radius / sources;
    }
    even += sources * std::numbers::pi * mean / area;
    double around = is_matched[i] ? -1 : 0;
    for_near(place, wide, [&](std::size_t, double) { ++around; });
    near += around * mean / (wide * wide);
  }
  found.common = std::max(found.common, found.matched);  // some lie just outside
  found.expected = std::max(even, near);
  found.z_score = z_score_of(log_tail(found.matched - parameters(), found.expected));
}

// Of two shifts of a lattice, the longer one has fewer sources in common. So of poses that are
// significant, too, the share of the common sources that match counts.
double PointMatching::other_ratio(std::span<const PointAgreement> agreements,
                                  const PointAgreement& best) const {
  const auto share = [](const PointAgreement& of) {
    return static_cast<double>(of.matched) / of.common;
  };
  const double significant = z_score_of(std::log(false_match_rate / best.trials));
  double ratio = 0;
  for (const PointAgreement& other : agreements) {
    if (corner_distance(other.matrix, best.matrix, reference_shape_) <= same_pose) continue;
    ratio = std::max(ratio, static_cast<double>(other.matched) / best.matched);
    if (other.z_score > significant) ratio = std::max(ratio, share(other) / share(best));
  }
  return ratio;
}

std::optional<PointAgreement> PointMatching::match(std::span<const PointSource> reference,
                                                   const Shape& reference_shape,
                                                   std::span<const PointSource> moving,
                                                   const Shape& moving_shape,
                                                   const PointMotion& motion) {
  if (reference.size() < min_matches || moving.size() < min_matches) return std::nullopt;
  motion_ = &motion;
  reference_ = reference;
  moving_ = moving;
  reference_shape_ = reference_shape;
  moving_shape_ = moving_shape;
  seen_.assign(moving.size(), 0);
  counts_ = 0;
  best_.clear();
  set_cells();
  mark_near();
  const double trials = motion.rotates ? try_pairs() : try_shifts();
  std::vector<PointAgreement> agreements;
  for (const Pose& pose : best_) {
    if (const auto found = refined(pose)) agreements.push_back(*found);
  }
  if (agreements.empty()) return std::nullopt;
  PointAgreement best = *std::max_element(
      agreements.begin(), agreements.end(),
      [](const PointAgreement& a, const PointAgreement& b) { return a.z_score < b.z_score; });
  best.trials = std::max(trials, 1.0);
  best.other_ratio = other_ratio(agreements, best);
  return best;
}

}  // namespace warpalign::detail
