// Homographies from local features of two images, each as seen from the side, too.
#include "registration/similarity/view_features.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/window_votes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <random>

namespace warpalign::detail {

namespace {

// Features stay alike while what they lie in is stretched by less than about 2 (Morel & Yu 2009).
// With either image squeezed as much, or both, planes are found that are stretched by up to 40
// against each other. The more a view is squeezed, the finer the directions.
struct Squeeze {
  double factor;
  int directions;
};
constexpr std::array squeezes{Squeeze{1, 1}, Squeeze{2.5, 6}, Squeeze{6, 15}};
constexpr double view_side = 1024;  // an image is enlarged to it, for the smallest features
constexpr std::size_t features_per_view = 400;

constexpr float max_ratio = 0.85F;
// In units of the larger side of an image: other places, and the same.
constexpr double other_place = 0.02;
constexpr double same_place = 0.006;

constexpr std::size_t samples = 100000;
constexpr std::size_t max_homographies = 3;
constexpr std::size_t min_matches = 8;
constexpr int max_growth = 10;
// A match agrees with a homography where it does so closely in one image and roughly in the other,
// in which the plane may appear many times as long. In units of the larger side.
constexpr double close_distance = 0.004;
constexpr double rough_distance = 0.016;

// The part of a view that a pixel of it takes in is averaged along the direction of the squeeze.
GreyPlane view_of(const GreyPlane& image, const Shape& shape, const Affine& to_image) {
  GreyPlane view(shape.width, shape.height);
  const double reach = std::hypot(to_image.a, to_image.d);
  const auto count = static_cast<int>(std::ceil(std::max(reach, 1.0)));
  for (std::int64_t y = 0; y < view.height; ++y) {
    float* row = view.row(y);
    for (std::int64_t x = 0; x < view.width; ++x) {
      float sum = 0;
      for (int i = 0; i < count; ++i) {
        const double u = static_cast<double>(x) + (i + 0.5) / count - 0.5;
        const Point p = to_image({u, static_cast<double>(y)});
        sum += image.between(p.x, p.y);
      }
      row[x] = sum / static_cast<float>(count);
    }
  }
  return view;
}

// Adds the features of the image, squeezed along a direction. `spacing`: of the view's pixels
// across it, in pixels of the image.
void add_features(const GreyPlane& image, double spacing, double squeezed, double degrees,
                  std::vector<LocalFeature>& features) {
  const double radians = degrees * std::numbers::pi / 180;
  const double c = std::cos(radians);
  const double s = std::sin(radians);
  const auto width = static_cast<double>(image.width);
  const auto height = static_cast<double>(image.height);
  const auto samples_of = [](double length, double step) {
    return std::max<std::int64_t>(1, std::llround(length / step));
  };
  const double along = squeezed * spacing;
  const Shape shape{samples_of(width * std::abs(c) + height * std::abs(s), along),
                    samples_of(width * std::abs(s) + height * std::abs(c), spacing), 1};
  const Point middle = centre_of({image.width, image.height, 1});
  const Point centre = centre_of(shape);
  const Affine to_image = Affine::translation(middle.x, middle.y) *
                          Affine{along * c, -spacing * s, 0, along * s, spacing * c, 0} *
                          Affine::translation(-centre.x, -centre.y);
  const double blur = 0.5 / spacing;
  for (LocalFeature feature :
       local_features(view_of(image, shape, to_image), blur, features_per_view)) {
    feature.place = to_image(feature.place);
    const bool is_inside = feature.place.x >= 0 && feature.place.y >= 0 &&
                           feature.place.x < width && feature.place.y < height;
    if (is_inside) features.push_back(feature);
  }
}

// Several sums, which a compiler makes one vector of.
float likeness(const LocalFeature& a, const LocalFeature& b) {
  constexpr std::size_t lanes = 16;
  std::array<float, lanes> sums{};
  const float* p = a.descriptor.data();
  const float* q = b.descriptor.data();
  for (std::size_t i = 0; i < LocalFeature::dimensions; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += p[i + k] * q[i + k];
  }
  float sum = 0;
  for (const float value : sums) sum += value;
  return sum;
}

bool are_near(Point a, Point b, double most) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) < most * most;
}

// Of descriptors of length 1 with this product.
float distance_of(float product) { return std::sqrt(std::max(2 - 2 * product, 1e-6F)); }

std::optional<FeatureMatch> match_of(const LocalFeature& feature,
                                     std::span<const LocalFeature> moving, double apart,
                                     std::vector<float>& likenesses) {
  likenesses.clear();
  for (const LocalFeature& other : moving) likenesses.push_back(likeness(feature, other));
  const auto best = std::max_element(likenesses.begin(), likenesses.end());
  if (best == likenesses.end()) return std::nullopt;
  const LocalFeature& found = moving[static_cast<std::size_t>(best - likenesses.begin())];
  float next = 0;
  for (std::size_t i = 0; i < moving.size(); ++i) {
    if (likenesses[i] > next && !are_near(moving[i].place, found.place, apart)) {
      next = likenesses[i];
    }
  }
  const float ratio = distance_of(*best) / distance_of(next);
  if (!(ratio < max_ratio)) return std::nullopt;
  return FeatureMatch{feature.place, found.place, static_cast<double>(ratio)};
}

// Whether matches agree with a homography.
class Agreement {
 public:
  Agreement(const Homography& matrix, double reference_side, double moving_side)
      : forth_(matrix),
        back_(matrix.inverse()),
        reference_side_(reference_side),
        moving_side_(moving_side) {}

  [[nodiscard]] bool with(const FeatureMatch& match) const {
    const LocalMap there(forth_, match.reference);
    if (!are_near(there.place, match.moving, rough_distance * moving_side_)) return false;
    if (!(there.w * forth_.h[8] > 0 && there.area() > 0)) return false;
    const LocalMap here(back_, match.moving);
    if (!are_near(here.place, match.reference, rough_distance * reference_side_)) return false;
    return are_near(there.place, match.moving, close_distance * moving_side_) ||
           are_near(here.place, match.reference, close_distance * reference_side_);
  }

 private:
  Homography forth_, back_;
  double reference_side_, moving_side_;
};

class HomographySampling {
 public:
  HomographySampling(double reference_side, double moving_side)
      : reference_side_(reference_side), moving_side_(moving_side) {}

  /// The homography that most of the matches agree with. Leaves the others in `matches`.
  std::optional<Homography> take_best(std::vector<FeatureMatch>& matches) {
    Homography best = sampled(matches);
    std::size_t most = agreeing(best, matches);
    for (int i = 0; i < max_growth && most >= min_matches; ++i) {
      const auto next = homography_of(inliers_);
      if (!next) break;
      const std::size_t count = agreeing(*next, matches);
      if (count < most) break;
      best = *next;
      if (count == most) break;
      most = count;
    }
    if (most < min_matches) return std::nullopt;
    const Agreement agreement(best, reference_side_, moving_side_);
    std::erase_if(matches, [&](const FeatureMatch& match) { return agreement.with(match); });
    return best;
  }

 private:
  // From the clearest matches first, and from more and more of them (Chum & Matas 2005).
  [[nodiscard]] Homography sampled(const std::vector<FeatureMatch>& matches) {
    Homography best;
    std::size_t most = 0;
    std::array<Point, 4> from, to;
    if (matches.size() < min_matches) return best;
    const std::size_t others = matches.size() - min_matches;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t clearest = min_matches + others * (i + 1) / samples;
      for (std::size_t k = 0; k < 4; ++k) {
        const FeatureMatch& match = matches[random_() % clearest];
        from.at(k) = match.reference;
        to.at(k) = match.moving;
      }
      const auto matrix = homography_between(from, to);
      if (!matrix) continue;
      const Agreement agreement(*matrix, reference_side_, moving_side_);
      const auto agree = static_cast<std::size_t>(
          std::count_if(matches.begin(), matches.end(),
                        [&](const FeatureMatch& match) { return agreement.with(match); }));
      if (agree <= most) continue;
      most = agree;
      best = *matrix;
    }
    return best;
  }

  // How many matches agree, which are put into inliers_.
  std::size_t agreeing(const Homography& matrix, const std::vector<FeatureMatch>& matches) {
    inliers_.clear();
    const Agreement agreement(matrix, reference_side_, moving_side_);
    for (const FeatureMatch& match : matches) {
      if (!agreement.with(match)) continue;
      WindowMatch inlier;
      inlier.reference = match.reference;
      inlier.moving = match.moving;
      inliers_.push_back(inlier);
    }
    return inliers_.size();
  }

  double reference_side_, moving_side_;
  // The same numbers everywhere, whatever ran before (Park & Miller 1988).
  std::minstd_rand random_{20011};
  std::vector<WindowMatch> inliers_;
};

}  // namespace

double compared_views() {
  double views = 0;
  for (const Squeeze& squeeze : squeezes) views += squeeze.directions;
  return views * views;
}

std::vector<LocalFeature> features_of_views(const GreyPlane& image) {
  const auto side = static_cast<double>(std::max(image.width, image.height));
  const double spacing = side / view_side;
  std::vector<LocalFeature> features;
  for (const auto& [factor, directions] : squeezes) {
    for (int i = 0; i < directions; ++i) {
      add_features(image, spacing, factor, 180.0 * i / directions, features);
    }
  }
  return features;
}

std::vector<FeatureMatch> matches_of(std::span<const LocalFeature> reference,
                                     std::span<const LocalFeature> moving, double reference_side,
                                     double moving_side) {
  std::vector<FeatureMatch> found;
  std::vector<float> likenesses;
  for (const LocalFeature& feature : reference) {
    const auto match = match_of(feature, moving, other_place * moving_side, likenesses);
    if (match) found.push_back(*match);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FeatureMatch& a, const FeatureMatch& b) { return a.ratio < b.ratio; });
  std::vector<FeatureMatch> distinct;
  for (const FeatureMatch& match : found) {
    const bool known =
        std::any_of(distinct.begin(), distinct.end(), [&](const FeatureMatch& other) {
          return are_near(match.reference, other.reference, same_place * reference_side) &&
                 are_near(match.moving, other.moving, same_place * moving_side);
        });
    if (!known) distinct.push_back(match);
  }
  return distinct;
}

std::vector<Homography> homographies_of(std::vector<FeatureMatch> matches, double reference_side,
                                        double moving_side) {
  std::vector<Homography> found;
  HomographySampling sampling(reference_side, moving_side);
  while (found.size() < max_homographies) {
    const auto best = sampling.take_best(matches);
    if (!best) break;
    found.push_back(*best);
  }
  return found;
}

}  // namespace warpalign::detail
