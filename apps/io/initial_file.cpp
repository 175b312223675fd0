// Reads the argument of --initial: a registration's JSON, pairs of corresponding points, or the
// identity.
#include "io/initial_file.hpp"

#include "io/file_bytes.hpp"
#include "io/image_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>

namespace warpalign::program {
namespace {

using Rows = std::vector<std::vector<double>>;
using nlohmann::json;

constexpr std::size_t max_bytes = std::size_t{16} << 20;

[[noreturn]] void refuse_json(const std::string& name, std::size_t dimensions) {
  throw FileError(fmt::format(
      "{}: has no matrix of {} or {} rows with {} numbers each; give the JSON of a registration of "
      "{}, or a CSV file with a line \"{}\" for each pair of points",
      name, dimensions, dimensions + 1, dimensions + 1, dimensions == 2 ? "images" : "volumes",
      dimensions == 2 ? "x,y,x',y'" : "x,y,z,x',y',z'"));
}

Rows matrix_of(const std::string& text, std::size_t dimensions, const std::string& name) {
  const json whole = json::parse(text, nullptr, false);
  if (whole.is_discarded()) throw FileError(fmt::format("{}: is not valid JSON", name));
  const json* matrix = &whole;
  if (whole.is_object()) {
    const auto member = whole.find("matrix");
    if (member == whole.end()) refuse_json(name, dimensions);
    matrix = &*member;
  }
  if (!matrix->is_array()) refuse_json(name, dimensions);
  if (matrix->size() != dimensions && matrix->size() != dimensions + 1) {
    refuse_json(name, dimensions);
  }
  Rows rows;
  for (const json& row : *matrix) {
    if (!row.is_array() || row.size() != dimensions + 1) refuse_json(name, dimensions);
    std::vector<double>& numbers = rows.emplace_back();
    for (const json& number : row) {
      if (!number.is_number()) refuse_json(name, dimensions);
      numbers.push_back(number.get<double>());
    }
  }
  return rows;
}

/// The numbers of a line, or nothing if it has other words.
std::optional<std::vector<double>> numbers_of(std::string line) {
  for (char& c : line) {
    if (c == ',' || c == ';' || c == '\t' || c == '\r') c = ' ';
  }
  std::istringstream stream(line);
  std::vector<double> numbers;
  for (std::string word; stream >> word;) {
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (*end != '\0' || !std::isfinite(number)) return {};
    numbers.push_back(number);
  }
  return numbers;
}

Rows points_of(const std::string& text, std::size_t dimensions, const std::string& name) {
  Rows points;
  std::istringstream stream(text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::optional<std::vector<double>> numbers = numbers_of(line);
    if (numbers && numbers->empty()) continue;
    if (!numbers && number == 1) continue;  // the header
    if (!numbers || numbers->size() != 2 * dimensions) {
      throw FileError(
          fmt::format("{}: line {} is not {} numbers: the coordinates in the reference, "
                      "then those in the moving image",
                      name, number, 2 * dimensions));
    }
    points.push_back(*numbers);
  }
  if (points.empty()) throw FileError(fmt::format("{}: contains no points", name));
  return points;
}

}  // namespace

InitialFile parse_initial(const std::string& text, std::size_t dimensions,
                          const std::string& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  if (is_json) return {matrix_of(text, dimensions, name), {}};
  return {{}, points_of(text, dimensions, name)};
}

Rows identity_rows(std::size_t rows, std::size_t columns) {
  Rows matrix(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < rows; ++i) matrix[i][i] = 1;
  return matrix;
}

bool is_identity(const std::filesystem::path& argument) { return argument == "identity"; }

InitialFile load_initial(const std::filesystem::path& path, std::size_t dimensions) {
  if (is_identity(path)) return {identity_rows(dimensions, dimensions + 1), {}};
  std::error_code failed;
  if (std::filesystem::file_size(path, failed) > max_bytes && !failed) {
    throw FileError(
        fmt::format("{}: is larger than 16 MiB, too large for --initial", path.string()));
  }
  std::span<const std::byte> content;
  std::optional<FileBytes> bytes;
  try {
    content = bytes.emplace(path).all();
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path.string(), error.what()));
  }
  return parse_initial(std::string(reinterpret_cast<const char*>(content.data()), content.size()),
                       dimensions, path.string());
}

}  // namespace warpalign::program
