// How the levels of a pair score a candidate, and which candidates share levels.
#include "registration/pair/level_pair.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::Candidate;
using detail::FitDirection;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;
using warpalign::SimilaritySumsResult;

constexpr Shape reference_shape{400, 300, 1};
constexpr Shape moving_shape{200, 160, 1};

Affine at_scale(double scale, double degrees = 0) {
  return Similarity{degrees, scale, {}}.matrix(reference_shape, moving_shape);
}

/// Sums over `pixels`: means 1 and 2, standard deviations 1 and 3, the correlation 0.6, and mean
/// square slopes 4 and 5 of the moving image.
SimilaritySumsResult sums_of(double pixels, std::size_t parameters = 4) {
  SimilaritySumsResult sums;
  sums.parameters = parameters;
  sums.pixels = pixels;
  sums.reference = pixels;
  sums.moving = 2 * pixels;
  sums.reference_square = (1 + 1) * pixels;
  sums.moving_square = (4 + 9) * pixels;
  sums.product = (2 + 0.6 * 3) * pixels;
  sums.hessian[0] = 4 * pixels;
  sums.hessian[parameters + 1] = 5 * pixels;
  return sums;
}

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device)
      : DrawnPair(device, reference_shape, moving_shape) {
    draw(test::Spots(2, 50), Homography(at_scale(1)));
  }
  Candidate judged(const Affine& matrix, double spacing, double pixels,
                   Motion motion = Motion::similarity) {
    const FitDirection roles(work(), matrix);
    const FitDirection::Levels levels = roles.levels(work(), spacing);
    Candidate candidate;
    candidate.motion = motion;
    candidate.null_test = detail::NullComparison{};
    detail::score_candidate(work(), roles, levels, Homography(roles.to_fit_frame(matrix)),
                            sums_of(pixels), candidate);
    return candidate;
  }
};

}  // namespace

TEST_CASE("level pair: the significance counts the independent pixels of the overlap") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    for (const double pixels : {4000.0, 12000.0}) {
      const Candidate candidate = pair.judged(at_scale(1), 2, pixels);
      CHECK(candidate.correlation == doctest::Approx(0.6));
      // The squared correlation length is the variance divided by the mean square slope: 9 / (4 +
      // 5).
      CHECK(candidate.significance ==
            doctest::Approx(detail::significance_of(0.6, pixels * (4 + 5) / 9)));
      CHECK_FALSE(candidate.null_test.has_value());  // of another candidate
    }
  });
}

TEST_CASE("level pair: the overlap is a fraction of the reference") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    // A pixel of the coarser level covers 2 x 2 or 4 x 4 pixels of the reference or, if its
    // content appears smaller there, of the moving image, whose pixels are then larger by the
    // scale.
    CHECK(pair.judged(at_scale(1), 2, 3000).overlap == doctest::Approx(3000 * 4.0 / 120000));
    CHECK(pair.judged(at_scale(1.2), 4, 1500).overlap == doctest::Approx(1500 * 16.0 / 120000));
    CHECK(pair.judged(at_scale(0.8), 2, 3000).overlap ==
          doctest::Approx(3000 * 4 / (0.8 * 0.8) / 120000));
    CHECK(pair.judged(at_scale(1), 2, 90000).overlap == 1);
  });
}

TEST_CASE("level pair: a small overlap is not significant") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    // The moving level has 100 x 80 pixels at spacing 2. At scale 1 all of them may overlap.
    struct Case {
      double scale, most;
      Motion motion;
    };
    for (const auto& [scale, most, motion] :
         {Case{1, 0.04 * 8000, Motion::similarity}, Case{1, 0.1 * 8000, Motion::affine},
          Case{1, 0.1 * 8000, Motion::homography},
          // The reference pixels that 200 x 160 pixels of the moving image cover.
          Case{1.4, 0.04 * 32000 / (1.4 * 1.4) / 4, Motion::similarity}}) {
      CAPTURE(most);
      CHECK(pair.judged(at_scale(scale), 2, 1.05 * most, motion).correlation ==
            doctest::Approx(0.6));
      const Candidate nothing = pair.judged(at_scale(scale), 2, 0.95 * most, motion);
      CHECK(nothing.correlation == 0);
      CHECK(nothing.significance == 0);
    }
  });
}

TEST_CASE("level pair: both levels sample their content alike, and transforms convert both ways") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    for (const double scale : {0.25, 0.6, 1.0, 1.7, 3.0}) {
      CAPTURE(scale);
      const FitDirection roles(pair.work(), at_scale(scale, 20));
      for (const double side : {32.0, 64.0}) {
        const auto levels = roles.levels(pair.work(), roles.spacing(side));
        const double ratio = scale < 1 ? 1 / scale : scale;
        const double between =
            ratio * levels.coarse.sampling().spacing / levels.fine.sampling().spacing;
        // Up to the distance to the nearest base scale.
        CHECK(between < 1.3);
        CHECK(between > 0.75);
        CHECK(roles.side(levels.coarse.sampling().spacing) ==
              doctest::Approx(std::min(side, roles.side(1))));
        Homography transform(roles.to_fit_frame(at_scale(scale, 20)));
        transform.h[6] = 1e-4;
        const Homography there = levels.to_levels(transform);
        CHECK(test::max_corner_distance(levels.to_images(there), transform,
                                        roles.coarse().shape()) <= 1e-9);
        const Point p{3, 5};
        const Point q = levels.fine.to_image()(there(p));
        const Point expected = transform(levels.coarse.to_image()(p));
        CHECK(std::hypot(q.x - expected.x, q.y - expected.y) <= 1e-9);
      }
    }
  });
}

TEST_CASE("level pair: with a horizon in the image the fit direction is not exchanged") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Affine smaller = at_scale(0.5);
    Homography regular(smaller);
    regular.h[6] = 1e-4;
    CHECK(FitDirection(pair.work(), smaller, regular).swapped());
    // The inverse has the divisor 1 - x / 100, which is 0 within the moving image.
    Homography back(smaller.inverse());
    back.h[6] = -0.01;
    CHECK_FALSE(FitDirection(pair.work(), smaller, back.inverse()).swapped());
  });
}

// Each group has its own fields, and there is memory for those of eight.
TEST_CASE("level pair: at most eight groups of orientation candidates run together") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    struct Place {
      FitDirection roles;
    };
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      const detail::PairContext work = pair.work(by_directions);
      std::vector<Place> places;
      for (int i = 0; i < 19; ++i) places.push_back({FitDirection(work, at_scale(1.01, 10.0 * i))});
      std::vector<std::span<Place>> groups;
      std::vector<std::size_t> together;
      detail::for_level_groups(
          work, std::span(places), groups,
          [&](std::span<const std::span<Place>> now) { together.push_back(now.size()); });
      CHECK(together ==
            (by_directions ? std::vector<std::size_t>{8, 8, 3} : std::vector<std::size_t>{1}));
    }
  });
}

TEST_CASE("level pair: candidates are grouped by the levels that compare them") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    struct Place {
      FitDirection roles;
      double scale;
    };
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      const detail::PairContext work = pair.work(by_directions);
      std::vector<Place> places;
      for (const double scale : {1.0, 0.5, 1.05, 2.0, 0.52, 1.02, 0.9}) {
        places.push_back({FitDirection(work, at_scale(scale)), scale});
      }
      std::vector<std::span<Place>> groups;
      std::vector<std::size_t> sizes;
      std::size_t calls = 0;
      double total = 0;
      detail::for_level_groups(work, std::span(places), groups,
                               [&](std::span<const std::span<Place>> together) {
                                 ++calls;
                                 for (const std::span<Place>& group : together) {
                                   sizes.push_back(group.size());
                                   for (const Place& place : group) {
                                     total += place.scale;
                                     CHECK(place.roles.shares_levels_with(group.front().roles));
                                   }
                                 }
                               });
      // Four groups of scales: {1, 1.05, 1.02}, {0.5, 0.52}, {2}, and {0.9}, which is fitted in the
      // opposite direction.
      CHECK(sizes.size() == 4);
      CHECK(total == doctest::Approx(6.99));
      CHECK(calls == 1);
      const FitDirection upright(work, at_scale(1.01));
      const FitDirection rotated(work, at_scale(1.01, 30));
      CHECK(upright.shares_levels_with(rotated) != by_directions);
    }
  });
}
