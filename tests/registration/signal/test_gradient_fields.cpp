// Gradient orientations of a level: their statistics by definition, their rotation and their
// splines.
#include "registration/signal/gradient_fields.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::GradientFields;
using warpalign::Image;
using warpalign::Shape;

constexpr Shape shape{24, 18, 1};

struct Values {
  std::vector<float> cosines, sines;
};

Values values_of(warpalign::Stream& stream, const GradientFields::Field& field) {
  const auto download = [&](const Image& image) {
    std::vector<float> values(static_cast<std::size_t>(image.shape().plane()));
    stream.download(image, values.data(), values.size() * sizeof(float));
    return values;
  };
  return {download(field.cosines), download(field.sines)};
}

// A spline at sample i: 4/6 of its own coefficient and 1/6 of each neighbour's along each axis.
double spline_at(const std::vector<float>& c, std::size_t i) {
  double value = 0;
  for (std::size_t v = 0; v < 3; ++v) {
    for (std::size_t u = 0; u < 3; ++u) {
      value +=
          (u == 1 ? 4 : 1) * (v == 1 ? 4 : 1) / 36.0 * static_cast<double>(c[i + 24 * v + u - 25]);
    }
  }
  return value;
}

}  // namespace

TEST_CASE("gradient fields: mean and energy of the pixels, computed again for each image") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    for (const std::uint32_t seed : {1, 2}) {
      pair.take(pair.reference, test::Spots(seed).drawn(shape, {}));
      auto& level = pair.reference.level(pair.stream, pair.clock, {1});
      const Values field =
          values_of(pair.stream, pair.fields.of(pair.stream, pair.clock, pair.reference, level));
      double n = 0, cosine = 0, sine = 0;
      for (std::size_t i = 0; i < field.cosines.size(); ++i) {
        if (field.cosines[i] == 0 && field.sines[i] == 0) continue;  // at the image's edge
        n += 1;
        cosine += field.cosines[i];
        sine += field.sines[i];
      }
      double squares = 0;
      for (std::size_t i = 0; i < field.cosines.size(); ++i) {
        if (field.cosines[i] == 0 && field.sines[i] == 0) continue;
        squares += std::pow(field.cosines[i] - cosine / n, 2);
        squares += std::pow(field.sines[i] - sine / n, 2);
      }
      REQUIRE(n > 200);
      const auto& found = pair.fields.statistics(pair.stream, pair.clock, pair.reference, level);
      // Sums of a few floats below 1 each.
      CHECK(std::abs(found.mean.x - cosine / n) <= 2e-7);
      CHECK(std::abs(found.mean.y - sine / n) <= 2e-7);
      CHECK(std::abs(found.energy - squares / n) <= 4e-7);
    }
  });
}

TEST_CASE("gradient fields: a batch of levels has the values of single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    pair.take(pair.reference, test::Spots(8).drawn(shape, {}));
    pair.take(pair.moving, test::Spots(9).drawn(shape, {}));
    // A few more levels than run at once.
    const auto for_each_level = [&](auto use) {
      for (detail::ImagePyramid* pyramid : {&pair.reference, &pair.moving}) {
        for (std::size_t i = 0; i < detail::max_searched_levels / 2 + 3; ++i) {
          const double spacing = 1 + 0.01 * static_cast<double>(i);
          use(*pyramid, pyramid->level(pair.stream, pair.clock, {spacing}));
        }
      }
    };
    for_each_level([&](detail::ImagePyramid& pyramid, detail::PyramidLevel& level) {
      pair.fields.measure(pair.stream, pair.clock, pyramid, level);
      pair.fields.measure(pair.stream, pair.clock, pyramid, level);
    });
    GradientFields one_by_one(device, pair.unit_weights);
    for_each_level([&](detail::ImagePyramid& pyramid, detail::PyramidLevel& level) {
      const auto& found = pair.fields.statistics(pair.stream, pair.clock, pyramid, level);
      const auto& expected = one_by_one.statistics(pair.stream, pair.clock, pyramid, level);
      REQUIRE(expected.energy > 0);
      CHECK(found.energy == expected.energy);
      CHECK(found.mean.x == expected.mean.x);
      CHECK(found.mean.y == expected.mean.y);
    });
  });
}

TEST_CASE("gradient fields: rotation adds one angle to all orientations and keeps the lengths") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    pair.take(pair.reference, test::Spots(3).drawn(shape, {}));
    auto& level = pair.reference.level(pair.stream, pair.clock, {1});
    const Values upright =
        values_of(pair.stream, pair.fields.of(pair.stream, pair.clock, pair.reference, level));
    // As many fields as there is memory for, and one more before them.
    std::vector<GradientFields::Field> fields;
    for (std::size_t i = 0; i <= GradientFields::max_rotated_fields; ++i) {
      const double radians = 0.4 * static_cast<double>(i) - 1.1;
      fields.push_back(pair.fields.turned(pair.stream, pair.clock, pair.reference, level, radians));
    }
    for (std::size_t turn = 1; turn < fields.size(); ++turn) {
      const double radians = 0.4 * static_cast<double>(turn) - 1.1;
      const Values turned = values_of(pair.stream, fields[turn]);
      const double c = std::cos(2 * radians);
      const double s = std::sin(2 * radians);
      test::WorstError worst;
      for (std::size_t i = 0; i < upright.cosines.size(); ++i) {
        const double x = c * upright.cosines[i] - s * upright.sines[i];
        const double y = s * upright.cosines[i] + c * upright.sines[i];
        worst.add(std::hypot(turned.cosines[i] - x, turned.sines[i] - y));
      }
      CHECK(worst.value() <= 1e-5);  // of single precision
    }
  });
}

TEST_CASE("gradient fields: splines interpolate both channels, computed again for each image") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    for (const std::uint32_t seed : {4, 5}) {
      pair.take(pair.reference, test::Spots(seed).drawn(shape, {}));
      auto& level = pair.reference.level(pair.stream, pair.clock, {1});
      const Values spline = values_of(
          pair.stream, pair.fields.coefficients(pair.stream, pair.clock, pair.reference, level));
      const Values field =
          values_of(pair.stream, pair.fields.of(pair.stream, pair.clock, pair.reference, level));
      test::WorstError worst;
      for (std::size_t y = 4; y < 14; ++y) {
        for (std::size_t x = 4; x < 20; ++x) {
          const std::size_t i = 24 * y + x;
          worst.add(std::abs(spline_at(spline.cosines, i) - field.cosines[i]));
          worst.add(std::abs(spline_at(spline.sines, i) - field.sines[i]));
        }
      }
      CHECK(worst.value() <= 1e-4);
    }
  });
}

TEST_CASE("gradient fields: fits compare fields that are smoothed, rotated, and given as splines") {
  // Smooths by a Gaussian of sigma 1, truncated at four samples.
  const auto smoothed = [](const std::vector<float>& field, std::size_t x, std::size_t y) {
    double sum = 0, weights = 0;
    for (int v = -4; v <= 4; ++v) {
      for (int u = -4; u <= 4; ++u) {
        const double weight = std::exp(-0.5 * (u * u + v * v));
        const auto at = static_cast<std::ptrdiff_t>(24 * y + x) + 24 * v + u;
        sum += weight * static_cast<double>(field[static_cast<std::size_t>(at)]);
        weights += weight;
      }
    }
    return sum / weights;
  };
  test::on_every_device([&](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    for (const std::uint32_t seed : {6, 7}) {
      pair.take(pair.reference, test::Spots(seed).drawn(shape, {}));
      auto& level = pair.reference.level(pair.stream, pair.clock, {1});
      const auto fitted = detail::FieldDetail::smoothed;
      const Values whole =
          values_of(pair.stream, pair.fields.turned(pair.stream, pair.clock, pair.reference, level,
                                                    0.3, detail::FieldDetail::whole));
      const Values turned = values_of(
          pair.stream,
          pair.fields.turned(pair.stream, pair.clock, pair.reference, level, 0.3, fitted));
      const Values upright =
          values_of(pair.stream, pair.fields.of(pair.stream, pair.clock, pair.reference, level));
      const Values spline = values_of(
          pair.stream,
          pair.fields.coefficients(pair.stream, pair.clock, pair.reference, level, fitted));
      test::WorstError of_rotated, of_spline;
      for (std::size_t y = 4; y < 14; ++y) {
        for (std::size_t x = 4; x < 20; ++x) {
          const std::size_t i = 24 * y + x;
          of_rotated.add(std::abs(turned.cosines[i] - smoothed(whole.cosines, x, y)));
          of_rotated.add(std::abs(turned.sines[i] - smoothed(whole.sines, x, y)));
          of_spline.add(std::abs(spline_at(spline.cosines, i) - smoothed(upright.cosines, x, y)));
          of_spline.add(std::abs(spline_at(spline.sines, i) - smoothed(upright.sines, x, y)));
        }
      }
      CHECK(of_rotated.value() <= 1e-5);  // of single precision
      CHECK(of_spline.value() <= 1e-4);   // as above
    }
  });
}
