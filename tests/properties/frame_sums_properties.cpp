// The sums for steps on the similarities of frames against the oracle.
#include "properties/trial.hpp"
#include "support/compare.hpp"
#include "support/frame_sums.hpp"
#include "support/random_images.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

/// The columns or rows of a frame that count. They have a neighbour on each side.
struct Range {
  std::int32_t first = 0, end = 0;
};

Range some_range(Random& random, std::int64_t size) {
  const auto first = random.integer(1, size / 2);
  const auto end = random.integer(first, size - 1);
  return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(end)};
}

float number(Random& random, double low, double high) {
  return static_cast<float>(random.real(low, high));
}

/// Chooses the position of the cell in the reference: anywhere, or near its position in the frame.
void choose_position(Random& random, const Shape& frame, FrameState& s) {
  const double angle = random.chance(0.5) ? random.real(-4, 4) : random.real(-0.1, 0.1);
  const double scale = random.real(0.7, 1.4);
  const bool is_rotated = random.chance(0.8);
  s.a = s.e = is_rotated ? static_cast<float>(scale * std::cos(angle)) : 1;
  s.b = is_rotated ? static_cast<float>(scale * std::sin(angle)) : 0;
  s.d = -s.b;
  // Moves the middle of the cell by up to 5 pixels from its position in the frame.
  const double i = 0.5 * (s.end_column - s.first_column), j = 0.5 * (s.end_row - s.first_row);
  const double a = static_cast<double>(s.a), b = static_cast<double>(s.b);
  s.reference_x = static_cast<std::int32_t>(s.first_column + i - a * i - b * j) +
                  static_cast<std::int32_t>(random.integer(-5, 5));
  s.reference_y = static_cast<std::int32_t>(s.first_row + j + b * i - a * j) +
                  static_cast<std::int32_t>(random.integer(-5, 5));
  s.fraction_x = is_rotated || random.chance(0.5) ? number(random, 0, 1) : 0;
  s.fraction_y = is_rotated || random.chance(0.5) ? number(random, 0, 1) : 0;
  s.from_centre_x =
      static_cast<float>(static_cast<double>(s.reference_x) - static_cast<double>(frame.width) / 2);
  s.from_centre_y = static_cast<float>(static_cast<double>(s.reference_y) -
                                       static_cast<double>(frame.height) / 2);
}

FrameState some_state(Random& random, const Shape& frame) {
  FrameState s;
  const Range columns = some_range(random, frame.width), rows = some_range(random, frame.height);
  s.first_column = columns.first, s.end_column = columns.end;
  s.first_row = rows.first, s.end_row = rows.end;
  choose_position(random, frame, s);
  s.frame_mean = number(random, -3, 3), s.reference_mean = number(random, -3, 3);
  s.gain = number(random, -1.5, 1.5), s.offset = number(random, -0.5, 0.5);
  s.inverse_scale = random.chance(0.4) ? 0.0F : number(random, 0.1, 0.6);
  s.active = random.chance(0.9) ? 1 : 0;
  return s;
}

/// Whether rounding may decide if a pixel's point has two neighbours on each side.
bool is_ambiguous(const reference::RotatedCell& c, const Shape& reference) {
  const auto near_end = [](double at, std::int64_t n) {
    const auto end = static_cast<double>(n - 2);
    return (at != 1 && std::abs(at - 1) < 5e-5) || (at != end && std::abs(at - end) < 5e-5);
  };
  for (std::int64_t row = 0; row < c.end_row - c.first_row; ++row) {
    for (std::int64_t column = 0; column < c.end_column - c.first_column; ++column) {
      const auto i = static_cast<double>(column), j = static_cast<double>(row);
      if (near_end(c.x + c.a * i + c.b * j, reference.width)) return true;
      if (near_end(c.y + c.d * i + c.e * j, reference.height)) return true;
    }
  }
  return false;
}

double sums_error(const FrameSums& found, const std::array<double, 45>& expected) {
  const auto sums = test::in_oracle_order(found);
  const double pixels = expected[43];
  if (found.pixels != pixels) return 1e9;
  test::WorstError worst;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    // As in tests/stages/refinement/test_frame_sums.cpp: terms of about 10, each rounded.
    const double allowed = test::size_of_terms(k) * (1e-6 * 10 * pixels + 1e-5);
    worst.add(std::abs(sums[k] - expected[k]) / allowed);
  }
  return worst.value();
}

/// Checks several frames with several cells, some of which are inactive.
void check_frame_sums(Trial& trial) {
  Random& random = trial.random;
  FrameSumsSpec spec{random.one_of<Shape>({{71, 90, 1}, {40, 33, 1}, {9, 7, 1}}),
                     random.integer(1, 3), random.integer(1, 3)};
  if (random.chance(0.5)) spec.references = spec.frames;
  std::vector<FrameState> states;
  while (states.size() < static_cast<std::size_t>(spec.cells * spec.frames)) {
    states.push_back(some_state(random, spec.frame));
  }
  trial.describe(spec.frames, " frames of ", spec.frame, " with ", spec.cells, " cells, ",
                 spec.references, " references");
  const auto frames =
      test::random_volume(test::stack_of(spec.frames, spec.frame), -4, 4, random.seed());
  const auto known =
      test::random_volume(test::stack_of(spec.references, spec.frame), -4, 4, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image stack = test::to_device(device, stream, frames);
    const Image reference = test::to_device(device, stream, known);
    std::vector<FrameSums> sums(states.size());
    for (FrameSums& left_alone : sums) left_alone.pixels = -3;
    FrameSumsPlan(device, spec).execute(stream, stack, reference, states, sums);
    test::WorstError worst;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const auto cell = test::cell_of(states[i]);
      if (states[i].active == 0 && sums[i].pixels != -3) worst.add(1e9);
      if (states[i].active == 0 || is_ambiguous(cell, spec.frame)) continue;
      const std::int64_t number = static_cast<std::int64_t>(i) / spec.cells;
      const auto expected = reference::frame_sums(
          test::slice_of(frames, number), test::slice_of(known, number % spec.references), cell);
      worst.add(sums_error(sums[i], expected));
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> frame_sums_properties() {
  return {{"frame_sums", "as the oracle has it", &check_frame_sums}};
}

}  // namespace properties
