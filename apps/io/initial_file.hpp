// Reads the argument of --initial: a registration's JSON, pairs of corresponding points, or the
// identity.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace warpalign::program {

/// Either a matrix or pairs of points; the other one is empty.
struct InitialFile {
  /// The rows of a matrix from reference to moving coordinates: `dimensions` rows, or one more, of
  /// `dimensions` + 1 numbers.
  std::vector<std::vector<double>> matrix;
  /// For each pair the coordinates (x, y, ...) in the reference, then those in the moving image.
  std::vector<std::vector<double>> points;
};

/// Parses a text. `name`: of the file, for messages. JSON: an object with the member `matrix`, as
/// the registration commands write it, or that matrix alone. CSV: a line for each pair of points,
/// with 2 `dimensions` numbers; the first line may be a header. Throws FileError.
[[nodiscard]] InitialFile parse_initial(const std::string& text, std::size_t dimensions,
                                        const std::string& name);

/// The first rows of an identity matrix with this many columns.
[[nodiscard]] std::vector<std::vector<double>> identity_rows(std::size_t rows, std::size_t columns);

/// Whether the argument of --initial is the word for the identity, instead of a file.
[[nodiscard]] bool is_identity(const std::filesystem::path& argument);

/// The identity if that is the argument; else reads and parses a file. Throws FileError.
[[nodiscard]] InitialFile load_initial(const std::filesystem::path& path, std::size_t dimensions);

}  // namespace warpalign::program
