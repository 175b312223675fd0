// Arrays for the interpolation commands' tests.
#pragma once

#include "image_io/npy.hpp"
#include "run_program.hpp"

#include <string>
#include <vector>

namespace warpalign::test {

/// Writes and reads .npy files.
void save_npy(const std::string& path, const program::Array& array);

/// An array of these numbers, which are as many as the extents say.
[[nodiscard]] program::Array array_of(const std::vector<std::int64_t>& extents,
                                      const std::vector<float>& numbers);
/// Reproducible numbers: -1 to 1 (both parts of complex ones), or over an integer type's range.
[[nodiscard]] program::Array random_array(const std::vector<std::int64_t>& extents, PixelType type);

/// The numbers of a float32 array; those of a complex64 array as pairs.
[[nodiscard]] std::vector<float> numbers_of(const program::Array& array);

/// The largest difference of two float32 or complex64 arrays' numbers.
[[nodiscard]] double largest_difference(const program::Array& a, const program::Array& b);

/// Runs a command with the tests' device, and requires success.
void run_well(std::vector<std::string> arguments);

/// Checks for status 2 or 3, an empty stdout, and one line that names these.
void check_refused(const Outcome& outcome, int status, const std::vector<std::string>& named);

}  // namespace warpalign::test
