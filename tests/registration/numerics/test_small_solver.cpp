// The solver of Gauss-Newton steps, on systems with a known solution.
#include "registration/numerics/small_solver.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using warpalign::detail::max_unknowns;
using warpalign::detail::solve_general;
using warpalign::detail::solve_symmetric;

struct System {
  std::vector<double> h, b, solution;
};

// H = A^T A + I, with random A, is positive definite and well conditioned. With `units`, the unit
// of unknown i is 10^i times that of the first one.
System random_system(std::size_t n, bool units) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> a(n * n);
  for (double& value : a) value = uniform(random);
  System system{std::vector<double>(n * n), std::vector<double>(n), std::vector<double>(n)};
  const auto unit = [&](std::size_t i) { return units ? std::pow(10, i) : 1; };
  for (double& value : system.solution) value = uniform(random);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = i == j ? 1 : 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[k * n + i] * a[k * n + j];
      system.h[i * n + j] = sum * unit(i) * unit(j);
      system.b[i] += system.h[i * n + j] * system.solution[j];
    }
  }
  return system;
}

}  // namespace

TEST_CASE("small solver: solves positive definite systems in any units") {
  for (std::size_t n = 1; n <= max_unknowns; ++n) {
    for (const bool units : {false, true}) {
      CAPTURE(n);
      CAPTURE(units);
      System system = random_system(n, units);
      REQUIRE(solve_symmetric(system.h, system.b));
      // Condition numbers are below 100, and right sides cancel to one part in 10^4 at most.
      // Solutions of the last unknowns lose as many digits as the units differ by.
      for (std::size_t i = 0; i < n; ++i) {
        const double unit = units ? std::pow(10, static_cast<double>(n - 1 - i)) : 1;
        CHECK(std::abs(system.b[i] - system.solution[i]) <= 1e-11 * unit);
      }
    }
  }
}

TEST_CASE("small solver: whether a solution exists does not depend on units") {
  for (const double unit : {1e-9, 1e-4, 1e4, 1e9}) {
    CAPTURE(unit);
    // (2, 1; 1, 2) and (4, 2; 2, 1 + 1e-14), with the unit changed for both unknowns and for one.
    std::vector<double> h{2 * unit, unit, unit, 2 * unit};
    std::vector<double> b{3 * unit, 3 * unit};
    REQUIRE(solve_symmetric(h, b));
    for (const double x : b) CHECK(x == doctest::Approx(1).epsilon(1e-12));
    h = {2 * unit * unit, unit, unit, 2};
    b = {3 * unit, 3};
    REQUIRE(solve_symmetric(h, b));
    CHECK(b[0] == doctest::Approx(1 / unit).epsilon(1e-12));
    CHECK(b[1] == doctest::Approx(1).epsilon(1e-12));
    h = {4 * unit, 2 * unit, 2 * unit, (1 + 1e-14) * unit};
    b = {1, 1};
    CHECK_FALSE(solve_symmetric(h, b));
    h = {4 * unit * unit, 2 * unit, 2 * unit, 1 + 1e-14};
    b = {1, 1};
    CHECK_FALSE(solve_symmetric(h, b));
  }
}

TEST_CASE("small solver: matrices that are not positive definite are refused") {
  const auto solves = [](std::vector<double> h, std::vector<double> b) {
    return solve_symmetric(h, b);
  };
  CHECK(solves({2, 1, 1, 2}, {1, 1}));
  CHECK_FALSE(solves({0, 0, 0, 1}, {1, 1}));          // an unknown that nothing depends on
  CHECK_FALSE(solves({-1, 0, 0, 1}, {1, 1}));         // a saddle
  CHECK_FALSE(solves({1, 2, 2, 1}, {1, 1}));          // a saddle that the diagonal does not show
  CHECK_FALSE(solves({1, 1, 1, 1}, {1, 1}));          // two unknowns that only their sum determines
  CHECK_FALSE(solves({4, 2, 2, 1 + 1e-14}, {1, 1}));  // the same to within rounding
  CHECK(solves({4, 2, 2, 1 + 1e-9}, {1, 1}));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(solves({nan, 0, 0, 1}, {1, 1}));
  CHECK_FALSE(solves({1, 0, 0, 1}, {nan, 1}));
  CHECK_FALSE(solves({1e-300, 0, 0, 1}, {1e300, 1}));  // the solution overflows
}

TEST_CASE("small solver: solves systems without symmetry, even if pivots are 0") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (std::size_t n = 1; n <= 4; ++n) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      CAPTURE(n);
      std::vector<double> a(n * n), solution(n), b(n);
      for (double& value : a) value = uniform(random) / 4;
      for (double& value : solution) value = uniform(random);
      // A dominant off-diagonal entry keeps the system well conditioned.
      for (std::size_t row = 0; row < n; ++row) {
        if (n > 1) a[row * n + row] = 0;
        a[row * n + (row + 1) % n] += 2;
        for (std::size_t k = 0; k < n; ++k) b[row] += a[row * n + k] * solution[k];
      }
      REQUIRE(solve_general(a, b));
      for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(b[i] - solution[i]) <= 1e-13);
    }
  }
}

TEST_CASE("small solver: a singular system without symmetry has no solution") {
  std::vector<double> a{1, 2, 0, 2, 4, 0, 0, 0, 1};
  std::vector<double> b{1, 2, 3};
  CHECK_FALSE(solve_general(a, b));
}
