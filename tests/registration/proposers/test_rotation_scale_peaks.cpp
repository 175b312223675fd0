// Which peaks of the log-polar correlation count as the same candidate.
#include "registration/proposers/rotation_scale_search.hpp"

#include <doctest/doctest.h>

using warpalign::detail::lead_to_same_pose;

TEST_CASE("rotation-scale peaks: peaks within 2 degrees and 3 % are the same") {
  CHECK(lead_to_same_pose({30, 1.5}, {31.9, 1.5}));
  CHECK(lead_to_same_pose({30, 1.5}, {28.1, 1.5 * 1.029}));
  CHECK(lead_to_same_pose({30, 1.5}, {30, 1.5 / 1.029}));
  CHECK_FALSE(lead_to_same_pose({30, 1.5}, {32.1, 1.5}));
  CHECK_FALSE(lead_to_same_pose({30, 1.5}, {30, 1.5 * 1.032}));
  CHECK_FALSE(lead_to_same_pose({30, 1.5}, {30, 1.5 / 1.032}));
}

TEST_CASE("rotation-scale peaks: rotations are equal modulo 180 degrees, opposite ones differ") {
  CHECK(lead_to_same_pose({89.5, 1}, {-89.5, 1}));
  CHECK(lead_to_same_pose({10, 1}, {-170, 1}));
  CHECK_FALSE(lead_to_same_pose({30, 1}, {-30, 1}));
  CHECK_FALSE(lead_to_same_pose({60, 1}, {-60, 1}));
}
