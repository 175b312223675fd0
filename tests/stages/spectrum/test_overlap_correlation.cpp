// The products of spectra that give correlations normalised by the overlap, against the oracle, on
// every device.
#include "reference/fft/fft.hpp"
#include "reference/spectrum/overlap_correlation.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

using warpalign::Error;
using warpalign::OverlapProductsPlan;
using warpalign::PixelType;
using warpalign::Shape;

reference::Spectrum as_floats(reference::Spectrum spectrum) {
  for (auto& value : spectrum.values) {
    value = {static_cast<double>(static_cast<float>(value.real())),
             static_cast<double>(static_cast<float>(value.imag()))};
  }
  return spectrum;
}

// The products of a spectrum with another one, and with the mirrored other one.
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

}  // namespace

TEST_CASE("overlap_products: their inverse transforms are the named correlations") {
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
        // Spectra are rounded to floats (6e-8), as are products of two of them, at all
        // frequencies.
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

TEST_CASE("overlap_products: a batch has the results of single images") {
  test::on_every_device([](const warpalign::Device& device) {
    // Neither the plane nor the batch is a multiple of a work-group.
    constexpr std::int64_t batch = 3;
    const Shape image{31, 17, 1};
    const Shape half{image.width / 2 + 1, image.height, 1};
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
    std::vector<float> products_alone;
    for (std::size_t i = 0; i < batch; ++i) {
      const auto products = run(1, i);
      products_alone.insert(products_alone.end(), products.begin(), products.end());
    }
    CHECK(run(batch, 0) == products_alone);
  });
}

TEST_CASE("overlap_products: wrong shapes and images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(OverlapProductsPlan(device, {{0, 4, 1}}), Error);
    CHECK_THROWS_AS(OverlapProductsPlan(device, {{8, 4, 1}, 0}), Error);
    CHECK_THROWS_AS(OverlapProductsPlan(device, {{8, 4, 1}, 100000}), Error);
    auto stream = device.make_stream();
    const auto spectrum = device.make_image(PixelType::c32, {5, 4, 1});
    const auto wide = device.make_image(PixelType::c32, {6, 4, 1});
    auto products = device.make_image(PixelType::c32, {5, 4, 2});
    auto four = device.make_image(PixelType::c32, {5, 4, 4});
    const OverlapProductsPlan plan(device, {{8, 4, 1}});
    CHECK_THROWS_AS(plan.execute(stream, wide, spectrum, products), Error);
    CHECK_THROWS_AS(plan.execute(stream, spectrum, wide, products), Error);
    CHECK_THROWS_AS(plan.execute(stream, spectrum, spectrum, four), Error);
  });
}
