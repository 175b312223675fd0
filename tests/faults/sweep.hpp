// Every point of a piece of work fails once, and the work is done again.
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

/// Does something with objects that it holds, and returns the result, bit for bit.
using Work = std::function<Bytes()>;

struct Scenario {
  std::string name;
  /// Makes the objects.
  std::function<Work(const warpalign::Device&)> make;
};

/// How the tests of one kind of fault tell whether what came out of a failing call is right.
struct Expectation {
  /// Empty, or what is wrong with an Error that was thrown because the point `failed` failed.
  std::function<std::string(const warpalign::Error& error, const std::string& failed)> of_error;
  /// The same for any other exception. Where it is null, any other exception is wrong.
  std::function<std::string(const std::exception& exception)> of_exception{};
  /// Whether a result that differs is right, too, where a failure was answered by another way to
  /// it. Where it is null, only the same bits are right.
  std::function<bool(const Bytes& found, const Bytes& expected)> is_as_good{};
};

struct Swept {
  std::size_t points = 0;    ///< that the work has
  std::size_t failed = 0;    ///< of which so many were made to fail
  std::size_t absorbed = 0;  ///< and so many of these did not keep the work from its right result
  std::vector<std::string> wrong;  ///< what was wrong; empty if nothing
  [[nodiscard]] std::string summary(const std::string& name) const;
};

/// Makes and does the work with each point failing in turn: what is thrown must be right, no more
/// may be alive afterwards than before (objects may let go of images whose work has failed), and
/// the same work must then succeed with the right result, and no more be alive than before.
[[nodiscard]] Swept sweep_anew(const Scenario& scenario, const warpalign::Device& device,
                               const Expectation& expectation);
/// The same with objects that are made once, and so live through all the failures.
[[nodiscard]] Swept sweep_kept(const Scenario& scenario, const warpalign::Device& device,
                               const Expectation& expectation);

/// The points that fail of so many: all, or where WARPALIGN_FAULT_LIMIT (`usual` where it is not
/// set; 0: no limit) is less, so many of them, evenly spread.
[[nodiscard]] std::vector<std::size_t> points_to_fail(std::size_t points, std::size_t usual = 4);

}  // namespace faults
