// Weighted sums along an axis against the oracle, on every device.
#include "reference/filter/weighted_sums.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/filter/weighted_sums.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <random>

namespace {

using warpalign::Device;
using warpalign::Error;
using warpalign::WeightedSumsPlan;
using warpalign::WeightedSumsSpec;

struct Tables {
  int taps = 0;
  std::vector<std::int32_t> first;
  std::vector<double> weights, added;
};

/// Random tables, of which every third sum begins so near to the end that it continues at the
/// first sample.
Tables random_tables(std::int64_t n_input, std::int64_t n_output, int taps, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Tables tables;
  tables.taps = taps;
  for (std::int64_t i = 0; i < n_output; ++i) {
    const std::int64_t last = i % 3 == 0 ? n_input - 1 : n_input - taps;
    tables.first.push_back(
        static_cast<std::int32_t>(std::uniform_int_distribution<std::int64_t>(0, last)(random)));
    tables.added.push_back(value(random));
  }
  std::ranges::sort(tables.first);
  for (std::int64_t i = 0; i < taps * n_output; ++i) tables.weights.push_back(value(random));
  return tables;
}

reference::SumMatrix matrix_of(const Tables& tables, std::int64_t n_input, std::int64_t n_output) {
  reference::SumMatrix matrix{n_output, n_input, {}, {}};
  matrix.weights.resize(static_cast<std::size_t>(n_input * n_output));
  for (std::int64_t i = 0; i < n_output; ++i) {
    const auto row = static_cast<std::size_t>(i);
    matrix.added.push_back(tables.added[row]);
    for (std::int64_t k = 0; k < tables.taps; ++k) {
      const std::int64_t sample = (tables.first[row] + k) % n_input;
      matrix.weights[static_cast<std::size_t>(i * n_input + sample)] +=
          tables.weights[static_cast<std::size_t>(k * n_output + i)];
    }
  }
  return matrix;
}

WeightedSumsPlan plan_of(const Device& device, const WeightedSumsSpec& spec, const Tables& tables) {
  return {device, spec, tables.taps, tables.first, tables.weights, tables.added};
}

}  // namespace

TEST_CASE("weighted_sums: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    // Neighbouring numbers: none, two as for complex numbers, fewer and more than vectors have, and
    // more than the tiles of CPUs. Sums: fewer and more than the tiles; neighbours that share few
    // samples or, in the last case, most.
    for (const WeightedSumsSpec& spec :
         {WeightedSumsSpec{1, 1, 1, 1}, WeightedSumsSpec{3, 40, 9, 1},
          WeightedSumsSpec{9, 70, 33, 1}, WeightedSumsSpec{1, 5000, 1100, 1},
          WeightedSumsSpec{2, 50, 21, 2}, WeightedSumsSpec{2, 31, 18, 7},
          WeightedSumsSpec{3, 29, 40, 16}, WeightedSumsSpec{1, 64, 17, 75},
          WeightedSumsSpec{2, 33, 8, 333}, WeightedSumsSpec{2, 64, 91, 40}}) {
      CAPTURE(spec.outer);
      CAPTURE(spec.n_input);
      CAPTURE(spec.inner);
      const int taps = static_cast<int>(std::min<std::int64_t>(spec.n_input, 13));
      const Tables tables = random_tables(spec.n_input, spec.n_output, taps, 11);
      const reference::Volume volume =
          test::random_volume({spec.inner, spec.n_input, spec.outer}, -1, 1, 12);
      auto stream = device.make_stream();
      const auto input = test::to_device(device, stream, volume);
      auto output =
          device.make_image(warpalign::PixelType::f32, {spec.inner, spec.n_output, spec.outer});
      test::poison(stream, output);
      plan_of(device, spec, tables).execute(stream, input.buffer(), output.buffer());
      // Up to 14 terms of at most 1 are added one by one, each rounded to 2^-24 of a sum below 14.
      CHECK(test::max_difference(
                test::volume_from_device(stream, output),
                reference::sums_along_y(volume, matrix_of(tables, spec.n_input, spec.n_output))) <=
            1e-5);
    }
  });
}

TEST_CASE("weighted_sums: in double precision, sums are exact to 1e-15") {
  test::on_every_device([](const Device& device) {
    WeightedSumsSpec spec{3, 40, 17, 5};
    spec.in_double = true;
    const Tables tables = random_tables(spec.n_input, spec.n_output, 11, 21);
    if (!device.info().double_precision) {
      CHECK_THROWS_AS(plan_of(device, spec, tables), Error);
      return;
    }
    const reference::Volume volume =
        test::random_volume({spec.inner, spec.n_input, spec.outer}, -1, 1, 22);
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, volume, warpalign::PixelType::f64);
    auto output =
        device.make_image(warpalign::PixelType::f64, {spec.inner, spec.n_output, spec.outer});
    plan_of(device, spec, tables).execute(stream, input.buffer(), output.buffer());
    // Up to 12 terms of at most 1, each rounded to 2^-53 of a sum below 12.
    CHECK(test::max_difference(
              test::volume_from_device(stream, output),
              reference::sums_along_y(volume, matrix_of(tables, spec.n_input, spec.n_output))) <=
          1.5e-14);
  });
}

TEST_CASE("weighted_sums: wrong arguments are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    const WeightedSumsSpec spec{2, 30, 10, 4};
    const Tables tables = random_tables(30, 10, 5, 13);
    const auto plan = [&](const WeightedSumsSpec& with, const Tables& of) {
      return plan_of(device, with, of);
    };
    CHECK_THROWS_AS(plan({0, 30, 10, 4}, tables), Error);
    CHECK_THROWS_AS(plan({2, 4, 10, 4}, tables), Error);
    CHECK_THROWS_AS(plan({2, 30, 11, 4}, tables), Error);
    CHECK_THROWS_AS(plan({std::int64_t{1} << 30, 30, 10, 1 << 20}, tables), Error);
    Tables outside = tables;
    outside.first[3] = 30;
    CHECK_THROWS_AS(plan(spec, outside), Error);
    auto stream = device.make_stream();
    const auto input = device.make_buffer(2 * 30 * 4 * sizeof(float));
    auto small = device.make_buffer(2 * 10 * 4 * sizeof(float) - 4);
    CHECK_THROWS_AS(plan(spec, tables).execute(stream, input, small), Error);
  });
}
