// Homographies from template matching of patches, on drawn images, with limits that leave few
// views.
#include "registration/proposers/patch_search.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::HomographyHypothesis;
using detail::PatchSearch;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Similarity;

RegistrationOptions about(double degrees, double scale) {
  RegistrationOptions options;
  options.min_angle = degrees - 8;
  options.max_angle = degrees + 8;
  options.min_scale = scale / 1.1;
  options.max_scale = scale * 1.1;
  return options;
}

std::vector<HomographyHypothesis> copy_of(std::span<const HomographyHypothesis> found) {
  return {found.begin(), found.end()};
}

Homography similarity(const Shape& shape, const Similarity& of) {
  return Homography(of.matrix(shape, shape));
}

// The tolerance for the best homography. Patches are located to a fraction of a pixel, and the
// corners lie half a patch beyond the outermost centres.
constexpr double tolerance = 2;

}  // namespace

TEST_CASE("patch search: finds homographies of wide, tall and larger images, and upside down") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Spots scene(21, 900);
    struct Case {
      Shape shape;
      Similarity similarity;
      double unit;  // of the reference's level, in pixels
    };
    for (const auto& [shape, near, unit] :
         {Case{{112, 90, 1}, {0, 1, {3, -2}}, 1}, Case{{84, 112, 1}, {33, 1.25, {2, 3}}, 1},
          Case{{112, 100, 1}, {177, 0.8, {-2, 1}}, 1},
          Case{{160, 140, 1}, {-3, 1, {-4, 2}}, 1.43}}) {
      CAPTURE(shape.width);
      CAPTURE(near.rotation_deg);
      test::DrawnPair pair(device, shape, shape);
      const Homography truth = similarity(shape, near) *
                               test::moving_corners(shape, {{{8, 5}, {-9, 7}, {-6, -9}, {9, -6}}});
      pair.draw(scene, truth, {0, 0});
      const RegistrationOptions options_of_search = about(near.rotation_deg, near.scale);
      PatchSearch search(device, options_of_search);
      const auto found = copy_of(search.find(pair.work()));
      REQUIRE_FALSE(found.empty());
      CHECK(test::max_corner_distance(found[0].matrix, truth, shape) <= tolerance * unit);
      // Nearly all of 30 patches, or of 20 if the shorter side has room for fewer.
      CHECK(found[0].windows >= 18);
      CHECK(std::is_sorted(found.begin(), found.end(),
                           [](const auto& a, const auto& b) { return a.votes > b.votes; }));
      // A repeated search gives the same result.
      const auto again = copy_of(search.find(pair.work()));
      REQUIRE(again.size() == found.size());
      CHECK(again[0].matrix.h == found[0].matrix.h);
    }
  });
}

TEST_CASE("patch search: several threads find the same as one") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 100, 1};
    test::DrawnPair pair(device, shape, shape);
    const Homography truth = similarity(shape, {5, 1.1, {3, -2}}) *
                             test::moving_corners(shape, {{{8, 5}, {-9, 7}, {-6, -9}, {9, -6}}});
    pair.draw(test::Spots(24, 900), truth, {0, 0});
    RegistrationOptions options = about(0, 1);
    options.min_angle = -40;
    options.max_angle = 40;
    PatchSearch alone(device, options);
    PatchSearch shared(device, options);
    detail::ThreadBudget threads(1);
    const auto work = pair.work();
    const detail::PairContext forking = pair.shared_work(threads);
    const auto compare = [](const auto& found, const auto& expected) {
      REQUIRE(found.size() == expected.size());
      REQUIRE_FALSE(found.empty());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].matrix.h == expected[i].matrix.h);
        CHECK(found[i].votes == expected[i].votes);
        CHECK(found[i].windows == expected[i].windows);
      }
    };
    // Twice: before the second search the worker's patches are discarded.
    for (int time = 0; time < 2; ++time) {
      compare(copy_of(shared.find(forking)), copy_of(alone.find(work)));
      compare(copy_of(shared.find_tilted(forking)), copy_of(alone.find_tilted(work)));
    }
    const std::atomic<bool> cancelled = true;
    const detail::PairContext ended = pair.shared_work(threads, &cancelled);
    CHECK(shared.find(ended).empty());
  });
}

TEST_CASE("patch search: a homography with few inliers guides the search for more") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 112, 1};
    test::DrawnPair pair(device, shape, shape);
    // Content appears half as large on the right as on the left.
    const Homography truth = test::moving_corners(shape, {{{0, 0}, {-30, 28}, {-30, -28}, {0, 0}}});
    pair.draw(test::Spots(22, 900), truth, {0, 0});
    const RegistrationOptions options_of_search = about(0, 0.85);
    PatchSearch search(device, options_of_search);
    const auto found = copy_of(search.find(pair.work()));
    REQUIRE_FALSE(found.empty());
    CHECK(test::max_corner_distance(found[0].matrix, truth, shape) <= 3 * tolerance);
    CHECK(found[0].windows >= 27);  // of 30
  });
}

TEST_CASE("patch search: finds nothing outside of the limits") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 100, 1};
    test::DrawnPair pair(device, shape, shape);
    const Homography truth = similarity(shape, {40, 1, {3, -2}});
    pair.draw(test::Spots(23, 900), truth, {0, 0});
    for (const double degrees : {0.0, 220.0}) {
      const RegistrationOptions options_of_search = about(degrees, 1);
      PatchSearch search(device, options_of_search);
      for (const HomographyHypothesis& agreed : search.find(pair.work())) {
        CHECK(test::max_corner_distance(agreed.matrix, truth, shape) > 10);
      }
    }
    const RegistrationOptions options_of_scaled = about(40, 2.5);
    PatchSearch scaled(device, options_of_scaled);  // no view has this scale
    CHECK(scaled.find(pair.work()).empty());
  });
}

TEST_CASE("patch search: masked pixels do not count") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 100, 1};
    const test::Spots scene(24, 900);
    const Homography truth = test::moving_corners(shape, {{{7, 4}, {-8, 6}, {-5, -8}, {8, -5}}});
    const Homography shifted = Homography(Affine::translation(14, 11)) * truth;
    test::DrawnPair pair(device, shape, shape);
    pair.draw(scene, truth, {0, 0});
    // Two thirds of the moving image show the scene with another shift.
    std::vector<float> moving = scene.drawn(shape, truth.inverse());
    const std::vector<float> elsewhere = scene.drawn(shape, shifted.inverse());
    std::vector<std::uint8_t> mask(moving.size(), 1);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      if (i % 112 < 40) continue;
      moving[i] = elsewhere[i];
      mask[i] = 0;
    }
    const auto best = [&] {
      const RegistrationOptions options_of_search = about(0, 1);
      PatchSearch search(device, options_of_search);
      const auto found = copy_of(search.find(pair.work()));
      return found.empty() ? HomographyHypothesis{} : found[0];
    };
    pair.take(pair.moving, moving);
    // Two thirds of the patches are left, and the corners are farther from them.
    CHECK(test::max_corner_distance(best().matrix, shifted, shape) <= 4 * tolerance);
    pair.take(pair.moving, moving, &mask);
    CHECK(best().windows >= 7);
    CHECK(test::max_corner_distance(best().matrix, shifted, shape) > 8);
    // The same with the images exchanged.
    pair.take(pair.reference, moving);
    pair.take(pair.moving, scene.drawn(shape, Homography()));
    CHECK(test::max_corner_distance(best().matrix, shifted.inverse(), shape) <= 4 * tolerance);
    pair.take(pair.reference, moving, &mask);
    CHECK(best().windows >= 7);
    CHECK(test::max_corner_distance(best().matrix, shifted.inverse(), shape) > 8);
  });
}

TEST_CASE("patch search: tilted views find an oblique plane") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 112, 1};
    const Point c = warpalign::centre_of(shape);
    for (const bool across : {false, true}) {
      CAPTURE(across);
      test::DrawnPair pair(device, shape, shape);
      // Half as wide or half as high: areas are half as large, lengths on average 0.71 times as
      // long.
      const Affine flat = across ? Affine{0.5, 0, 0, 0, 1, 0} : Affine{1, 0, 0, 0, 0.5, 0};
      const Homography truth = Homography(Affine::translation(c.x + 2, c.y - 3) * flat *
                                          Affine::translation(-c.x, -c.y));
      pair.draw(test::Spots(25, 900), truth, {0, 0});
      const RegistrationOptions options_of_search = about(0, 0.71);
      PatchSearch search(device, options_of_search);
      static_cast<void>(search.find(pair.work()));
      const auto found = copy_of(search.find_tilted(pair.work()));
      REQUIRE_FALSE(found.empty());
      CHECK(test::max_corner_distance(found[0].matrix, truth, shape) <= 2 * tolerance);
      CHECK(found[0].windows >= 18);
    }
  });
}

TEST_CASE("patch search: two planes that move differently are both found") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 112, 1};
    constexpr std::size_t border = 50;
    const test::Spots scene(26, 900);
    test::DrawnPair pair(device, shape, shape);
    pair.draw(scene, Homography(), {0, 0});
    struct Plane {
      Homography motion;
      Point middle;  // in the reference
    };
    const Plane behind{Homography(), {25, 56}};
    const Plane near{Homography(Affine::translation(24, 0)), {70, 56}};
    std::vector<float> moving = scene.drawn(shape, near.motion.inverse());
    const std::vector<float> left = scene.drawn(shape, behind.motion.inverse());
    for (std::size_t i = 0; i < moving.size(); ++i) {
      if (i % 112 < border) moving[i] = left[i];
    }
    pair.take(pair.moving, moving);
    const RegistrationOptions options_of_search = about(0, 1);
    PatchSearch search(device, options_of_search);
    const auto found = copy_of(search.find(pair.work()));
    for (const Plane& plane : {behind, near}) {
      CAPTURE(plane.middle.x);
      const Point expected = plane.motion(plane.middle);
      // Fewer patches are left of the plane behind. The guided search finds the other patches too,
      // but far from where this plane predicts them, so they must not turn its homography into
      // that of the near plane.
      CHECK(std::any_of(found.begin(), found.end(), [&](const HomographyHypothesis& agreed) {
        const Point mapped = agreed.matrix(plane.middle);
        return std::hypot(mapped.x - expected.x, mapped.y - expected.y) <= tolerance;
      }));
    }
  });
}

TEST_CASE("patch search: small patches find a small overlap") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{224, 180, 1};
    constexpr Shape in_common{64, 180, 1};
    const Homography to_scene(Affine{0.55, 0, 0, 0, 0.55, 0});
    const Homography truth = test::moving_corners(shape, {{{8, 5}, {-9, 7}, {-6, -9}, {9, -6}}});
    test::DrawnPair pair(device, shape, shape);
    pair.take(pair.reference, test::Spots(26, 900).drawn(shape, to_scene));
    std::vector<float> moving = test::Spots(26, 900).drawn(shape, to_scene * truth.inverse());
    const std::vector<float> another = test::Spots(27, 900).drawn(shape, to_scene);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      if (i % 224 >= 64) moving[i] = another[i];
    }
    pair.take(pair.moving, moving);
    // Only six of the large patches lie within the overlap, and seven must agree.
    const RegistrationOptions options_of_coarse = about(0, 1);
    PatchSearch coarse(device, options_of_coarse);
    for (const HomographyHypothesis& agreed : coarse.find(pair.work())) {
      CHECK(test::max_corner_distance(agreed.matrix, truth, in_common) > 20);
    }
    const RegistrationOptions options_of_fine = about(0, 1);
    PatchSearch fine(device, options_of_fine, warpalign::detail::fine_patch_grid);
    const auto found = copy_of(fine.find(pair.work()));
    REQUIRE_FALSE(found.empty());
    // From two columns of patches: the corners are farther from them.
    CHECK(test::max_corner_distance(found[0].matrix, truth, in_common) <= 5 * tolerance);
    CHECK(found[0].windows >= 12);
  });
}

TEST_CASE("patch search: a start that fits a part leads to all patches, without views of its own") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 100, 1};
    test::DrawnPair pair(device, shape, shape);
    const Homography truth = test::moving_corners(shape, {{{8, 5}, {-9, 7}, {-6, -9}, {9, -6}}});
    pair.draw(test::Spots(28, 900), truth, {0, 0});
    // Right on the left side, and off by a tenth of the image on the right.
    const Homography near = test::moving_corners(shape, {{{8, 5}, {-1, 0}, {2, -1}, {9, -6}}});
    const RegistrationOptions options_of_search = about(90, 1);
    PatchSearch search(device, options_of_search);
    for (const HomographyHypothesis& agreed : search.find(pair.work())) {
      CHECK(test::max_corner_distance(agreed.matrix, truth, shape) > 10);
    }
    const auto found = copy_of(search.find_along(pair.work(), near));
    REQUIRE_FALSE(found.empty());
    CHECK(test::max_corner_distance(found[0].matrix, truth, shape) <= tolerance);
    CHECK(found[0].windows >= 27);  // of 30
  });
}

TEST_CASE("patch search: unrelated scenes give no homographies with few inliers") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{112, 100, 1};
    test::DrawnPair pair(device, shape, shape);
    for (const std::uint32_t seed : {31U, 33U, 35U}) {
      pair.take(pair.reference, test::Spots(seed, 900).drawn(shape, Homography()));
      pair.take(pair.moving, test::Spots(seed + 1, 900).drawn(shape, Homography()));
      const RegistrationOptions options_of_search = RegistrationOptions{};
      PatchSearch search(device, options_of_search);
      for (const HomographyHypothesis& agreed : search.find(pair.work())) {
        CHECK(agreed.windows >= warpalign::detail::VoteOptions{}.min_inliers);
      }
    }
  });
}
