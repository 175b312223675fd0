// The sums of the refinement's steps against the oracle, and batches against single ones. The
// stages' own tests derive the tolerances.
#include "properties/matrices.hpp"
#include "properties/trial.hpp"
#include "reference/refinement/shift_sums.hpp"
#include "reference/refinement/similarity_sums.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <array>
#include <cmath>
#include <span>

namespace properties {

namespace {

using namespace warpalign;

constexpr std::int64_t frame_width = 71;
constexpr std::int64_t frame_height = 90;

/// A range of columns or rows of a window, the window's position in the frame, and the position in
/// the reference that it is compared with. Pixels of the frame have one neighbour on each side,
/// points of the reference two.
struct Range {
  std::int32_t frame = 0, reference = 0, first = 0, end = 0;
};

Range some_range(Random& random, std::int64_t size) {
  const auto count = random.integer(3, size / 2);
  const auto first = random.integer(0, 5);
  const auto in_frame = random.integer(1, size - 1 - count) - first;
  const auto in_reference = random.integer(1, size - 2 - count) - first;
  return {static_cast<std::int32_t>(in_frame), static_cast<std::int32_t>(in_reference),
          static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + count)};
}

ShiftState some_state(Random& random) {
  const Range x = some_range(random, frame_width);
  const Range y = some_range(random, frame_height);
  const auto number = [&](double low, double high) {
    return static_cast<float>(random.real(low, high));
  };
  ShiftState s;
  s.frame_x = x.frame, s.frame_y = y.frame;
  s.reference_x = x.reference, s.reference_y = y.reference;
  s.first_column = x.first, s.end_column = x.end;
  s.first_row = y.first, s.end_row = y.end;
  s.fraction_x = number(0, 1), s.fraction_y = number(0, 1);
  s.gain = number(-1.5, 1.5), s.offset = number(-0.5, 0.5);
  s.inverse_scale = random.chance(0.3) ? 0.0F : number(0.1, 0.6);
  s.active = 1;
  return s;
}

reference::ShiftedWindow window_of(const ShiftState& s, double frame_mean, double reference_mean) {
  reference::ShiftedWindow w;
  w.left = s.frame_x, w.top = s.frame_y;
  w.reference_x = s.reference_x + static_cast<double>(s.fraction_x);
  w.reference_y = s.reference_y + static_cast<double>(s.fraction_y);
  w.first_column = s.first_column, w.end_column = s.end_column;
  w.first_row = s.first_row, w.end_row = s.end_row;
  w.frame_mean = frame_mean, w.reference_mean = reference_mean;
  w.gain = static_cast<double>(s.gain), w.offset = static_cast<double>(s.offset);
  w.scale = s.inverse_scale > 0 ? 1 / static_cast<double>(s.inverse_scale) : 0;
  return w;
}

/// Checks one frame with three windows.
void check_shift_sums(Trial& trial) {
  Random& random = trial.random;
  const int parts = random.one_of<int>({1, 3, 40});
  const std::vector<ShiftState> states{some_state(random), some_state(random), some_state(random)};
  trial.describe(parts, " parts");
  const auto frame = test::random_plane(frame_width, frame_height, -4, 4, random.seed());
  const auto known = test::random_plane(frame_width, frame_height, -4, 4, random.seed());
  std::array<float, 3> frame_means{}, reference_means{};
  for (float& mean : frame_means) mean = static_cast<float>(random.real(-3, 3));
  for (float& mean : reference_means) mean = static_cast<float>(random.real(-3, 3));
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image frames = test::to_device(device, stream, frame);
    const Image reference = test::to_device(device, stream, known);
    Buffer of_frame = device.make_buffer(sizeof frame_means);
    Buffer of_reference = device.make_buffer(sizeof reference_means);
    stream.upload(frame_means.data(), sizeof frame_means, of_frame);
    stream.upload(reference_means.data(), sizeof reference_means, of_reference);
    std::vector<ShiftSums> sums(states.size());
    ShiftSumsPlan(device, {{frame_width, frame_height, 1}, 3, 1, parts})
        .execute(stream, frames, reference, of_frame, of_reference, states, sums);
    test::WorstError worst;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const auto expected =
          reference::shift_sums(frame, known,
                                window_of(states[i], static_cast<double>(frame_means[i]),
                                          static_cast<double>(reference_means[i])));
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const double error = std::abs(sums[i].*backend::shift_sum_order[k] - expected[k]) /
                             (1e-6 * 10 * expected[23] + 1e-5);
        worst.add(error);
      }
    }
    return worst.value();
  });
}

struct SimilarityCase {
  Shape reference, moving;
  SimilaritySumsSpec spec;
  std::vector<SimilarityState> states;
};

SimilarityCase some_similarity_case(Random& random) {
  SimilarityCase c;
  c.reference = random.one_of<Shape>({{70, 53, 1}, {130, 65, 1}, {33, 90, 1}});
  c.moving = random.one_of<Shape>({{70, 53, 1}, {90, 61, 1}});
  c.spec = {c.reference, c.moving};
  c.spec.reference_margin = random.one_of<int>({0, 0, 5});
  c.spec.moving_margin = random.one_of<int>({1, 4});
  c.spec.projective = random.chance(0.5);
  c.spec.batch = 4;
  for (int i = 0; i < 4; ++i) {
    SimilarityState state{some_matrix(random, c.reference, c.moving, c.spec.projective),
                          random.real(0.7, 1.4), random.real(-0.3, 0.3),
                          random.one_of<double>({0.0, 0.5})};
    state.centre = centre_of(c.moving);
    state.unit = 40;
    c.states.push_back(state);
  }
  return c;
}

reference::SimilaritySums expected_of(const SimilarityCase& c, const SimilarityState& state,
                                      const reference::Plane& reference,
                                      const reference::Plane& coefficients) {
  reference::ComparedPair pair{reference, coefficients};
  const auto& h = state.matrix.h;
  pair.m = {h[0], h[1], h[2], h[3], h[4], h[5]};
  pair.w = {h[6], h[7], h[8]};
  pair.reference_margin = c.spec.reference_margin;
  pair.moving_margin = c.spec.moving_margin;
  const reference::Illumination light{state.gain, state.offset, nullptr, 0};
  if (!c.spec.projective) return reference::similarity_sums(pair, light, state.scale);
  return reference::homography_sums(pair, light, state.scale, {state.centre.x, state.centre.y},
                                    state.unit);
}

/// The largest error of an entry relative to its largest possible value, in units of 4e-6.
double worst_entry(const SimilaritySumsResult& found, const reference::SimilaritySums& expected) {
  // rounding decides which pixels count
  if (expected.ambiguous > 0 || expected.pixels < 16) return 0;
  if (found.pixels != expected.pixels) return 1e9;
  test::WorstError worst;
  const auto consider = [&](double a, double b, double size) {
    const double error = std::abs(a - b) / (4e-6 * size);
    worst.add(error);
  };
  const std::size_t n = expected.gradient.size();
  for (std::size_t row = 0; row < n; ++row) {
    const double of_row = expected.hessian[row * (n + 1)];
    for (std::size_t column = 0; column < n; ++column) {
      consider(found.hessian[row * n + column], expected.hessian[row * n + column],
               std::sqrt(of_row * expected.hessian[column * (n + 1)]));
    }
    consider(found.gradient[row], expected.gradient[row], std::sqrt(of_row * expected.squares));
  }
  consider(found.weight, expected.weight, expected.weight);
  consider(found.product, expected.product, expected.product);
  return worst.value();
}

/// Checks the first state against the oracle, and all states of a batch against single ones.
void check_similarity_sums(Trial& trial) {
  const SimilarityCase c = some_similarity_case(trial.random);
  trial.describe(c.reference, " and ", c.moving, ", margins ", c.spec.reference_margin, " and ",
                 c.spec.moving_margin, c.spec.projective ? ", homography" : ", similarity",
                 ", scale ", c.states.front().scale);
  const auto reference =
      test::random_plane(c.reference.width, c.reference.height, 0, 1, trial.random.seed());
  const auto coefficients =
      test::random_plane(c.moving.width, c.moving.height, 0, 1, trial.random.seed());
  const auto expected = expected_of(c, c.states.front(), reference, coefficients);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image on_device = test::to_device(device, stream, reference);
    const Image of_moving = test::to_device(device, stream, coefficients);
    const SimilarityImages images{on_device, of_moving};
    const SimilaritySumsPlan plan(device, c.spec);
    std::vector<SimilaritySumsResult> together(c.states.size());
    plan.execute(stream, images, c.states, together);
    for (std::size_t i = 0; i < c.states.size(); ++i) {
      const auto alone = plan.execute(stream, images, c.states[i]);
      const bool same = together[i].hessian == alone.hessian &&
                        together[i].gradient == alone.gradient &&
                        together[i].pixels == alone.pixels && together[i].product == alone.product;
      if (!same) return 1e9;
    }
    return worst_entry(together.front(), expected);
  });
}

}  // namespace

std::vector<Property> refinement_properties() {
  return {
      {"shift_sums", "as the oracle has it", &check_shift_sums},
      {"similarity_sums", "as the oracle has it, and in a batch as alone", &check_similarity_sums}};
}

}  // namespace properties
