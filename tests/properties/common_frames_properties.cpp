// The stage common_frames, with a border of zeros, against the oracle.
// tests/support/common_frames.cpp derives the tolerances.
#include "properties/trial.hpp"
#include "support/common_frames.hpp"

#include <limits>
#include <numbers>
#include <utility>

namespace properties {

namespace {

using namespace warpalign;

test::CommonSizes some_sizes(Random& random) {
  test::CommonSizes sizes{};
  sizes.images = random.one_of<test::Size>({{1, 1}, {33, 1}, {5, 90}, {40, 37}, {70, 50}});
  sizes.part = {random.integer(1, sizes.images.width), random.integer(1, sizes.images.height)};
  if (random.chance(0.3)) sizes.part = sizes.images;
  sizes.frame = {sizes.part.width + random.integer(0, 20),
                 sizes.part.height + random.integer(0, 20)};
  return sizes;
}

bool counts(const test::CommonInput& input, std::size_t i) {
  const bool in_reference =
      input.reference_weight.empty() || input.reference_weight[0].values[i] > 0.5;
  return in_reference && input.moving_weight.values[i] > 0.5;
}

/// Pixels that do not count may have any value.
test::CommonInput with_nan(test::CommonInput input) {
  for (std::size_t i = 0; i < input.moving_weight.values.size(); ++i) {
    if (counts(input, i)) continue;
    for (auto& plane : input.reference) plane.values[i] = std::numeric_limits<double>::quiet_NaN();
    for (auto& plane : input.moving) plane.values[i] = std::numeric_limits<double>::infinity();
  }
  return input;
}

void check_common_frames(Trial& trial) {
  Random& random = trial.random;
  const test::CommonSizes sizes = some_sizes(random);
  const int channels = random.one_of<int>({1, 2});
  const bool masked = random.chance(0.5);
  const double angle =
      channels == 2 && random.chance(0.7) ? random.real(-1, 1) * std::numbers::pi : 0;
  trial.describe("a part of ", test::to_string(sizes.part), " of ", test::to_string(sizes.images),
                 " in ", test::to_string(sizes.frame), ", ", channels, " channels, turned by ",
                 angle, masked ? ", masked" : "");
  const auto input = test::random_common_input(sizes.images, channels, masked, random.seed());
  const auto given = random.chance(0.3) ? with_nan(input) : input;
  const auto expected = test::expected_common(input, sizes, angle);
  // The values of one channel are up to 2; two rotated channels are up to sqrt(8).
  const double largest = channels == 1 ? 2 : 3;
  trial.on_every_device([&](const Device& device) {
    return test::common_error(test::found_common(device, given, sizes, angle), expected, sizes,
                              largest);
  });
}

}  // namespace

std::vector<Property> common_frames_properties() {
  return {{"common_frames", "as the oracle has it", &check_common_frames}};
}

}  // namespace properties
