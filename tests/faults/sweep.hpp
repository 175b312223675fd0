// Lets every point of some work fail once, and repeats the work.
#pragma once

#include "faults/fault_points.hpp"

#include <warpalign/device.hpp>
#include <warpalign/error.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace faults {

using Bytes = std::vector<std::byte>;

/// Does something with objects that it holds. Returns the result, which must be the same bits each
/// time.
using Work = std::function<Bytes()>;

struct Scenario {
  std::string name;
  /// Creates the objects.
  std::function<Work(const warpalign::Device&)> make;
};

/// How the tests of a kind of fault check the exception of a failing call.
struct Expectation {
  /// Returns what is wrong with an Error that was thrown because the point `failed` failed, or
  /// nothing.
  std::function<std::string(const warpalign::Error& error, const std::string& failed)> of_error;
  /// The same for other exceptions. If it is null, any other exception is wrong.
  std::function<std::string(const std::exception& exception)> of_exception{};
  /// Whether a different result is right, too, because the work succeeded by another way. If it is
  /// null, only identical bits are right.
  std::function<bool(const Bytes& found, const Bytes& expected)> is_as_good{};
};

struct Swept {
  std::size_t points = 0;  ///< number of points in the work
  std::size_t failed = 0;  ///< number of points that were made to fail
  /// number of failures after which the work still gave its right result
  std::size_t absorbed = 0;
  std::vector<std::string> wrong;  ///< everything that was wrong
  [[nodiscard]] std::string summary(const std::string& name) const;
};

/// Creates the objects and does the work with each point failing in turn. The exception must be
/// right, no more memory may be allocated afterwards than before (objects may release images whose
/// work has failed), and the work must then succeed with the right result, without additional
/// objects.
[[nodiscard]] Swept sweep_anew(const Scenario& scenario, const warpalign::Device& device,
                               const Expectation& expectation);
/// The same with objects that are created once, and live through all the failures.
[[nodiscard]] Swept sweep_kept(const Scenario& scenario, const warpalign::Device& device,
                               const Expectation& expectation);

/// The numbers of the points that must fail: all, or a number of evenly spread points, limited by
/// WARPALIGN_FAULT_LIMIT (by default `usual`; 0: no limit).
[[nodiscard]] std::vector<std::size_t> points_to_fail(std::size_t points, std::size_t usual = 4);

}  // namespace faults
