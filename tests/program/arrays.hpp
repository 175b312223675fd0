// Arrays for the interpolation commands' tests.
#pragma once

#include "io/npy.hpp"
#include "program/run_program.hpp"

#include <string>
#include <vector>

namespace warpalign::test {

/// Writes and reads .npy files.
void save_npy(const std::string& path, const program::Array& array);

/// An array of these numbers, whose count matches the extents.
[[nodiscard]] program::Array array_of(const std::vector<std::int64_t>& extents,
                                      const std::vector<float>& numbers);
/// Reproducible numbers from -1 to 1 (both parts of complex ones), or over an integer type's
/// range.
[[nodiscard]] program::Array random_array(const std::vector<std::int64_t>& extents, PixelType type);

/// The numbers of a float32 array; those of a complex64 array as pairs.
[[nodiscard]] std::vector<float> numbers_of(const program::Array& array);

/// The largest difference between the numbers of two float32 or complex64 arrays.
[[nodiscard]] double max_difference(const program::Array& a, const program::Array& b);

/// Runs a command with the device under test, and requires success.
void run_successfully(std::vector<std::string> arguments);

/// Checks for this status (2 or 3), an empty stdout, and one line that contains these words.
void check_refused(const Outcome& outcome, int status, const std::vector<std::string>& named);

}  // namespace warpalign::test
