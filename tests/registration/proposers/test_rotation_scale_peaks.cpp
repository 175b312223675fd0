// Which peaks of the log-polar correlation count as the same candidate.
#include "registration/proposers/rotation_scale_search.hpp"

#include <doctest/doctest.h>

using warpalign::detail::are_the_same;

TEST_CASE("rotation-scale peaks: peaks within 2 degrees and 3 % are the same") {
  CHECK(are_the_same({30, 1.5}, {31.9, 1.5}));
  CHECK(are_the_same({30, 1.5}, {28.1, 1.5 * 1.029}));
  CHECK(are_the_same({30, 1.5}, {30, 1.5 / 1.029}));
  CHECK_FALSE(are_the_same({30, 1.5}, {32.1, 1.5}));
  CHECK_FALSE(are_the_same({30, 1.5}, {30, 1.5 * 1.032}));
  CHECK_FALSE(are_the_same({30, 1.5}, {30, 1.5 / 1.032}));
}

TEST_CASE("rotation-scale peaks: rotations are equal modulo 180 degrees, opposite ones differ") {
  CHECK(are_the_same({89.5, 1}, {-89.5, 1}));
  CHECK(are_the_same({10, 1}, {-170, 1}));
  CHECK_FALSE(are_the_same({30, 1}, {-30, 1}));
  CHECK_FALSE(are_the_same({60, 1}, {-60, 1}));
}
