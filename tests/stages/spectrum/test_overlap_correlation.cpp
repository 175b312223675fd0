// Correlation normalised by the overlap: products of spectra, and scores, against the oracle, on
// every device.
#include "reference/fft/fft.hpp"
#include "reference/spectrum/overlap_correlation.hpp"
#include "support/batches.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::Error;
using warpalign::OverlapLimits;
using warpalign::OverlapProductsPlan;
using warpalign::OverlapScorePlan;
using warpalign::PixelType;
using warpalign::Shape;

reference::Spectrum as_floats(reference::Spectrum spectrum) {
  for (auto& value : spectrum.values) {
    value = {static_cast<double>(static_cast<float>(value.real())),
             static_cast<double>(static_cast<float>(value.imag()))};
  }
  return spectrum;
}

// The products of a spectrum with another one, and with that one mirrored.
std::array<reference::Spectrum, 2> products(const warpalign::Device& device, const test::Size& size,
                                            const reference::Spectrum& a,
                                            const reference::Spectrum& b) {
  auto stream = device.make_stream();
  const auto first = test::to_device(device, stream, a);
  const auto second = test::to_device(device, stream, b);
  auto output = device.make_image(PixelType::c32, {first.shape().width, first.shape().height, 2});
  test::poison(stream, output);
  OverlapProductsPlan(device, {{size.width, size.height, 1}})
      .execute(stream, first, second, output);
  return {test::spectrum_from_device(stream, output, 0),
          test::spectrum_from_device(stream, output, 1)};
}

// Two surfaces of random correlations, and two of overlaps from a little below 0 to a quarter of
// the image.
struct Surfaces {
  test::Size size;
  std::array<reference::Plane, 2> correlations, overlaps;
};

Surfaces random_surfaces(const test::Size& size) {
  const auto plane = static_cast<double>(size.width * size.height);
  Surfaces surfaces{size, {}, {}};
  for (std::size_t i = 0; i < 2; ++i) {
    surfaces.correlations[i] = test::random_plane(
        size.width, size.height, -plane * plane, plane * plane, 70 + static_cast<std::uint32_t>(i));
    surfaces.overlaps[i] = test::random_plane(size.width, size.height, -plane, plane * plane / 4,
                                              72 + static_cast<std::uint32_t>(i));
  }
  return surfaces;
}

// The slices, one after the other as floats.
warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const std::array<reference::Plane, 2>& slices) {
  auto image = device.make_image(PixelType::f32, {slices[0].width, slices[0].height, 2});
  std::vector<float> pixels;
  for (const reference::Plane& slice : slices) {
    for (const double value : slice.values) pixels.push_back(static_cast<float>(value));
  }
  stream.upload(pixels.data(), pixels.size() * sizeof(float), image.buffer());
  return image;
}

void compare_scores(const warpalign::Device& device, const Surfaces& surfaces,
                    const OverlapLimits& limits) {
  CAPTURE(test::to_string(surfaces.size));
  CAPTURE(limits.reach);
  auto stream = device.make_stream();
  const auto correlations = to_device(device, stream, surfaces.correlations);
  const auto overlaps = to_device(device, stream, surfaces.overlaps);
  auto scores = device.make_image(PixelType::f32, {surfaces.size.width, surfaces.size.height, 2});
  test::poison(stream, scores);
  OverlapScorePlan(device, {{surfaces.size.width, surfaces.size.height, 1}})
      .execute(stream, correlations, overlaps, limits, scores);
  const reference::ShiftLimits straight{
      static_cast<double>(limits.min_overlap), static_cast<double>(limits.reach),
      static_cast<double>(limits.centre_x), static_cast<double>(limits.centre_y)};
  reference::ShiftLimits mirrored = straight;
  mirrored.centre_x = static_cast<double>(limits.mirrored_centre_x);
  mirrored.centre_y = static_cast<double>(limits.mirrored_centre_y);
  for (const std::int64_t slice : {0, 1}) {
    CAPTURE(slice);
    const auto i = static_cast<std::size_t>(slice);
    const auto expected = reference::overlap_score(surfaces.correlations[i], surfaces.overlaps[i],
                                                   slice == 0 ? straight : mirrored);
    // Two divisions and a root: a few units of 6e-8 of the largest score.
    CHECK(test::max_difference(test::from_device(stream, scores, slice), expected) <=
          5e-7 * test::largest(expected));
  }
}

}  // namespace

TEST_CASE("overlap_products: transformed back they are the correlations they are named for") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{1, 1}, test::Size{2, 5}, test::Size{8, 6},
                                   test::Size{31, 17}, test::Size{24, 33}}) {
      CAPTURE(test::to_string(size));
      const auto a = test::random_plane(size.width, size.height, -1, 1, 80);
      const auto b = test::random_plane(size.width, size.height, -1, 1, 81);
      const auto found = products(device, size, as_floats(reference::forward(a)),
                                  as_floats(reference::forward(b)));
      const auto plane = static_cast<double>(size.width * size.height);
      for (const bool mirrored : {false, true}) {
        CAPTURE(mirrored);
        auto expected = reference::correlation(a, b, mirrored);
        for (double& value : expected.values) value *= plane;
        const auto surface = reference::inverse(found[mirrored ? 1 : 0], size.width);
        // Spectra rounded to floats (6e-8) and products of two of them, over all frequencies.
        CHECK(test::max_difference(surface, expected) <= 1e-6 * plane * std::sqrt(plane));
      }
    }
  });
}

TEST_CASE("overlap_products: the correlations of two channels are added") {
  test::on_every_device([](const warpalign::Device& device) {
    // Neither the plane nor the batch is a multiple of a work-group.
    constexpr std::int64_t batch = 3;
    const Shape image{31, 17, 1};
    const Shape half{16, 17, 1};
    const auto stacked = [&](std::int64_t slices) {
      return Shape{half.width, half.height, slices};
    };
    auto stream = device.make_stream();
    std::uint32_t seed = 60;
    const auto random = [&](std::int64_t slices) {
      const Shape shape = stacked(slices);
      const auto plane = test::random_plane(2 * shape.pixels(), 1, -1, 1, seed++);
      const std::vector<float> values(plane.values.begin(), plane.values.end());
      auto made = device.make_image(PixelType::c32, shape);
      stream.upload(values.data(), made.buffer().size_bytes(), made.buffer());
      return made;
    };
    const auto a = random(1);
    const auto a_second = random(1);
    const auto b = random(batch);
    const auto b_second = random(batch);
    auto output = device.make_image(PixelType::c32, stacked(2 * batch));
    const auto downloaded = [&] {
      std::vector<float> values(output.buffer().size_bytes() / sizeof(float));
      stream.download(output.buffer(), values.data(), output.buffer().size_bytes());
      return values;
    };
    const OverlapProductsPlan one(device, {image, batch});
    test::poison(stream, output);
    one.execute(stream, a, b, output);
    const auto first = downloaded();
    one.execute(stream, a_second, b_second, output);
    const auto second = downloaded();
    test::poison(stream, output);
    const OverlapProductsPlan two(device, {image, batch, true});
    two.execute(stream, a, a_second, b, b_second, output);
    const auto both = downloaded();
    test::WorstError worst;
    for (std::size_t i = 0; i < both.size(); ++i) {
      const double expected = static_cast<double>(first[i]) + static_cast<double>(second[i]);
      const double error = std::abs(static_cast<double>(both[i]) - expected);
      worst.add(error);
    }
    // One more rounding of numbers of up to 4: half an ulp is 2.4e-7.
    CHECK(worst.value() <= 3e-7);
    CHECK_THROWS_AS(one.execute(stream, a, a_second, b, b_second, output), Error);
    CHECK_THROWS_AS(two.execute(stream, a, b, output), Error);
    CHECK_THROWS_AS(two.execute(stream, a, b_second, b, b_second, output), Error);
  });
}

TEST_CASE("overlap_products: every frequency of larger spectra") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Size size{509, 641};
    const auto a = test::random_spectrum(size.width, size.height, 84);
    const auto b = test::random_spectrum(size.width, size.height, 85);
    const auto found = products(device, size, a, b);
    test::WorstError worst;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      const auto p = a.values[i];
      const auto q = b.values[i];
      const double exact = std::max(std::abs(p * q), 1e-30);
      worst.add(std::abs(found[0].values[i] - p * std::conj(q)) / exact);
      worst.add(std::abs(found[1].values[i] - p * q) / exact);
    }
    // A product and a fused sum in single precision, 6e-8 each, in both components.
    CHECK(worst.value() <= 3e-7);
  });
}

TEST_CASE("overlap_score: every size, without and with limits") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{1, 1}, test::Size{1, 9}, test::Size{8, 6},
                                   test::Size{31, 17}, test::Size{130, 65}}) {
      const auto surfaces = random_surfaces(size);
      OverlapLimits limits;
      limits.min_overlap = 0.3F;
      compare_scores(device, surfaces, limits);
      limits.reach = 3.6F;
      compare_scores(device, surfaces, limits);
    }
  });
}

TEST_CASE("overlap_score: shifts within reach of a centre, which goes round the edges") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto surfaces = random_surfaces({40, 30});
    compare_scores(device, surfaces, {1, 5.3F, 1.25F, -2.5F, 39, 29});
    compare_scores(device, surfaces, {1, 5.3F, -38, 3.5F, 20, 15});
    compare_scores(device, surfaces, {1, 11.7F, 78.5F, -61.25F, 19.5F, 14.5F});
    compare_scores(device, surfaces, {1, 1000, 3, 4, 5, 6});
  });
}

TEST_CASE("overlap_score: where nothing overlaps the score is 0, not infinite") {
  test::on_every_device([](const warpalign::Device& device) {
    auto surfaces = random_surfaces({16, 9});
    for (reference::Plane& overlap : surfaces.overlaps) {
      for (double& value : overlap.values) value = 0;
    }
    surfaces.overlaps[1].values[5] = -1e-3;  // an empty overlap after the rounding of transforms
    OverlapLimits limits;
    limits.min_overlap = std::numeric_limits<float>::min();
    compare_scores(device, surfaces, limits);
  });
}

TEST_CASE("overlap correlation: a batch has the results of its images alone") {
  test::on_every_device([](const warpalign::Device& device) {
    // Neither the plane nor the batch is a multiple of a work-group.
    constexpr std::int64_t batch = 3;
    const Shape image{31, 17, 1};
    const Shape half{image.width / 2 + 1, image.height, 1};
    const auto stacked = [&](std::int64_t slices) {
      return Shape{image.width, image.height, slices};
    };
    const auto stacked_half = [&](std::int64_t slices) {
      return Shape{half.width, half.height, slices};
    };
    const auto numbers = [](const Shape& shape, std::size_t floats, std::uint32_t seed) {
      const auto plane =
          test::random_plane(static_cast<std::int64_t>(floats) * shape.pixels(), 1, -1, 1, seed);
      return std::vector<float>(plane.values.begin(), plane.values.end());
    };
    auto stream = device.make_stream();
    const auto on_device = [&](PixelType type, const Shape& shape, const std::vector<float>& data,
                               std::size_t first) {
      auto made = device.make_image(type, shape);
      stream.upload(data.data() + first, made.buffer().size_bytes(), made.buffer());
      return made;
    };
    const auto downloaded = [&](const warpalign::Image& from) {
      std::vector<float> data(from.buffer().size_bytes() / sizeof(float));
      stream.download(from.buffer(), data.data(), from.buffer().size_bytes());
      return data;
    };
    const auto a = numbers(half, 2, 90);
    const auto b = numbers(stacked_half(batch), 2, 91);
    const auto plane = 2 * static_cast<std::size_t>(half.plane());
    const auto run = [&](std::int64_t count, std::size_t first) {
      const auto a_image = on_device(PixelType::c32, half, a, 0);
      const auto b_images = on_device(PixelType::c32, stacked_half(count), b, first * plane);
      auto products = device.make_image(PixelType::c32, stacked_half(2 * count));
      test::poison(stream, products);
      OverlapProductsPlan(device, {image, count}).execute(stream, a_image, b_images, products);
      return downloaded(products);
    };
    const auto of_batch = [&](std::uint32_t seed) {
      auto values = numbers(stacked(2 * batch), 1, seed);
      for (float& value : values) value *= static_cast<float>(image.plane());
      return values;
    };
    const auto correlations = of_batch(93);
    const auto overlaps = of_batch(94);
    const auto score = [&](std::int64_t count, std::size_t first, bool alike) {
      const std::size_t before = 2 * first * static_cast<std::size_t>(image.plane());
      const auto surfaces = on_device(PixelType::f32, stacked(2 * count), correlations, before);
      const auto overlap =
          on_device(PixelType::f32, stacked(alike ? 2 : 2 * count), overlaps, alike ? 0 : before);
      auto scores = device.make_image(PixelType::f32, stacked(2 * count));
      test::poison(stream, scores);
      OverlapLimits limits{0.001F, 9, 3, 4, 5, 6};
      OverlapScorePlan(device, {image, count, alike})
          .execute(stream, surfaces, overlap, limits, scores);
      return downloaded(scores);
    };
    std::vector<float> products_alone;
    for (std::size_t i = 0; i < batch; ++i) {
      const auto products = run(1, i);
      products_alone.insert(products_alone.end(), products.begin(), products.end());
    }
    CHECK(run(batch, 0) == products_alone);
    for (const bool alike : {false, true}) {
      CAPTURE(alike);
      std::vector<float> scores_alone;
      for (std::size_t i = 0; i < batch; ++i) {
        const auto scores = score(1, i, alike);
        scores_alone.insert(scores_alone.end(), scores.begin(), scores.end());
      }
      CHECK(score(batch, 0, alike) == scores_alone);
    }
  });
}

TEST_CASE("overlap_score: each image of a batch has its own limits") {
  test::on_every_device([](const warpalign::Device& device) {
    // More images than share a launch.
    constexpr std::int64_t batch = 70;
    const Shape one{19, 12, 2}, all{19, 12, 2 * batch};
    auto stream = device.make_stream();
    const auto surfaces = test::random_pixels(PixelType::f32, all, 76);
    const auto overlaps = test::random_pixels(PixelType::f32, all, 77);
    const auto image_of = [&](const Shape& shape, const std::vector<std::byte>& pixels,
                              std::int64_t first) {
      const auto begin = pixels.begin() + first * one.pixels() * 4;
      return test::image_of(device, stream, PixelType::f32, shape,
                            {begin, begin + shape.pixels() * 4});
    };
    std::vector<OverlapLimits> limits;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto k = static_cast<float>(i);
      limits.push_back({1e-4F * (1 + k), k / 7, k / 3, k / 9, 18 - k / 4, 11 - k / 8});
    }
    auto scores = device.make_image(PixelType::f32, all);
    test::poison(stream, scores);
    const OverlapScorePlan plan(device, {{19, 12, 1}, batch});
    plan.execute_each(stream, image_of(all, surfaces, 0), image_of(all, overlaps, 0), limits,
                      scores);
    std::vector<std::byte> expected;
    for (std::int64_t i = 0; i < batch; ++i) {
      auto of_image = device.make_image(PixelType::f32, one);
      OverlapScorePlan(device, {{19, 12, 1}})
          .execute(stream, image_of(one, surfaces, i), image_of(one, overlaps, i),
                   limits[static_cast<std::size_t>(i)], of_image);
      const auto found = test::bytes_of(stream, of_image);
      expected.insert(expected.end(), found.begin(), found.end());
    }
    CHECK(test::bytes_of(stream, scores) == expected);
    limits.pop_back();
    CHECK_THROWS_AS(plan.execute_each(stream, image_of(all, surfaces, 0),
                                      image_of(all, overlaps, 0), limits, scores),
                    Error);
  });
}

TEST_CASE("overlap correlation: wrong shapes, images and limits are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(OverlapProductsPlan(device, {{0, 4, 1}}), Error);
    CHECK_THROWS_AS(OverlapScorePlan(device, {{8, 4, 2}}), Error);
    CHECK_THROWS_AS(OverlapProductsPlan(device, {{8, 4, 1}, 0}), Error);
    CHECK_THROWS_AS(OverlapScorePlan(device, {{8, 4, 1}, 100000}), Error);
    auto stream = device.make_stream();
    const auto spectrum = device.make_image(PixelType::c32, {5, 4, 1});
    const auto wide = device.make_image(PixelType::c32, {6, 4, 1});
    auto products = device.make_image(PixelType::c32, {5, 4, 2});
    auto four = device.make_image(PixelType::c32, {5, 4, 4});
    const OverlapProductsPlan plan(device, {{8, 4, 1}});
    CHECK_THROWS_AS(plan.execute(stream, wide, spectrum, products), Error);
    CHECK_THROWS_AS(plan.execute(stream, spectrum, wide, products), Error);
    CHECK_THROWS_AS(plan.execute(stream, spectrum, spectrum, four), Error);

    const auto surfaces = device.make_image(PixelType::f32, {8, 4, 2});
    const auto too_many = device.make_image(PixelType::f32, {8, 4, 4});
    auto scores = device.make_image(PixelType::f32, {8, 4, 2});
    const OverlapScorePlan score(device, {{8, 4, 1}});
    CHECK_THROWS_AS(score.execute(stream, scores, surfaces, {}, scores), Error);
    CHECK_THROWS_AS(score.execute(stream, surfaces, scores, {}, scores), Error);
    CHECK_THROWS_AS(score.execute(stream, surfaces, too_many, {}, scores), Error);
    CHECK_THROWS_AS(score.execute(stream, surfaces, surfaces, {0}, scores), Error);
    CHECK_THROWS_AS(score.execute(stream, surfaces, surfaces, {1, -1}, scores), Error);
    CHECK_THROWS_AS(score.execute(stream, surfaces, surfaces, {1, 0, std::nanf("")}, scores),
                    Error);
    CHECK_THROWS_AS(score.execute(stream, surfaces, surfaces, {1, INFINITY}, scores), Error);
  });
}
