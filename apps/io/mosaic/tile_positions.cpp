// Where the tiles of a mosaic lie: from a CSV file, or from a grid.
#include "io/mosaic/tile_positions.hpp"

#include "io/file_bytes.hpp"
#include "io/image_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

using Record = std::vector<std::string>;

/// A record with the number of its first line.
struct NumberedRecord {
  Record fields;
  std::size_t line = 1;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The separator of a file's fields: a comma, or a semicolon or tab if line 1 has no comma, as
/// spreadsheets write it in some languages.
char separator_of(std::string_view text) {
  const std::string_view header = text.substr(0, text.find('\n'));
  for (const char separator : {',', ';', '\t'}) {
    if (header.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
}

/// Splits text at separators and lines; quoted fields may hold both.
std::vector<NumberedRecord> records_of(std::string_view text) {
  const char separator = separator_of(text);
  std::vector<NumberedRecord> records;
  NumberedRecord record;
  std::string field;
  bool quoted = false;
  std::size_t line = 1;
  const auto end_field = [&] {
    record.fields.push_back(trimmed(field));
    field.clear();
  };
  const auto end_record = [&] {
    end_field();
    if (record.fields.size() > 1 || !record.fields.front().empty()) records.push_back(record);
    record = {{}, line};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == separator) {
      end_field();
    } else if (c == '\n') {
      end_record();
    } else if (c != '\r') {
      field += c;
    }
  }
  end_record();
  return records;
}

Record::const_iterator find_column(const Record& header, const std::string& name) {
  return std::find_if(header.begin(), header.end(), [&](const std::string& column) {
    return std::equal(column.begin(), column.end(), name.begin(), name.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
  });
}

std::size_t column_of(const Record& header, const std::string& name, const std::string& file) {
  const auto found = find_column(header, name);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  std::string names;
  for (const std::string& column : header) names += (names.empty() ? "" : ", ") + column;
  throw FileError(
      fmt::format("{}: line 1 has no column '{}' but '{}'; the columns file, x and y are needed",
                  file, name, names));
}

double number_of(const std::string& text, const std::string& column, const std::string& file,
                 std::size_t line) {
  double number = 0;
  const char* end = text.data() + text.size();
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [stop, failed] = std::from_chars(begin, end, number);
  if (failed == std::errc() && stop == end && std::isfinite(number)) return number;
  throw FileError(
      fmt::format("{}: line {}: {} is '{}', not a finite number", file, line, column, text));
}

}  // namespace

std::string read_position_text(const std::filesystem::path& path) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    throw FileError(fmt::format("{}: is a folder; name a file with positions", path.string()));
  }
  std::string text;
  try {
    FileBytes file(path);
    const auto bytes = file.all();
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path.string(), error.what()));
  }
  if (text.starts_with(mark)) text.erase(0, mark.size());
  return text;
}

namespace {

/// The tiles of a file: their names, and the numbers in the columns x, y and so on.
struct NumberedTile {
  std::string file;
  std::vector<double> numbers;
};

std::vector<NumberedTile> read_numbers(const std::filesystem::path& path,
                                       std::span<const char* const> columns) {
  const std::string name = path.string();
  const std::string text = read_position_text(path);
  const std::vector<NumberedRecord> records = records_of(text);
  if (records.empty()) throw FileError(fmt::format("{}: has no lines", name));
  const Record& header = records.front().fields;
  const std::size_t file_column = column_of(header, "file", name);
  std::vector<std::size_t> numbers;
  for (const char* column : columns) numbers.push_back(column_of(header, column, name));
  std::vector<NumberedTile> tiles;
  std::map<std::string, std::size_t> lines;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto& [fields, line] = records[i];
    if (fields.size() != header.size()) {
      throw FileError(fmt::format("{}: line {} has {} fields, but line 1 has {}", name, line,
                                  fields.size(), header.size()));
    }
    const std::string& file = fields[file_column];
    if (file.empty()) throw FileError(fmt::format("{}: line {} names no file", name, line));
    const auto [earlier, is_new] = lines.emplace(file, line);
    if (!is_new) {
      throw FileError(fmt::format("{}: line {}: {} is on line {} already; name each tile once",
                                  name, line, file, earlier->second));
    }
    NumberedTile tile{file, {}};
    for (std::size_t k = 0; k < columns.size(); ++k) {
      tile.numbers.push_back(number_of(fields[numbers[k]], columns[k], name, line));
    }
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

}  // namespace

std::vector<TilePosition> read_tile_positions(const std::filesystem::path& path) {
  constexpr std::array columns{"x", "y"};
  std::vector<TilePosition> positions;
  for (NumberedTile& tile : read_numbers(path, columns)) {
    positions.push_back({std::move(tile.file), {tile.numbers[0], tile.numbers[1]}});
  }
  return positions;
}

bool has_column_z(const std::filesystem::path& path) {
  const std::string text = read_position_text(path);
  const std::vector<NumberedRecord> records = records_of(text);
  if (records.empty()) return false;
  const Record& header = records.front().fields;
  return find_column(header, "z") != header.end();
}

std::vector<VolumeTilePosition> read_volume_positions(const std::filesystem::path& path) {
  constexpr std::array columns{"x", "y", "z"};
  std::vector<VolumeTilePosition> positions;
  for (NumberedTile& tile : read_numbers(path, columns)) {
    positions.push_back(
        {std::move(tile.file), {tile.numbers[0], tile.numbers[1], tile.numbers[2]}});
  }
  return positions;
}

GridCell grid_cell(std::int64_t tile, std::int64_t rows, std::int64_t columns, GridOrder order,
                   GridCorner corner) {
  const bool by_row = order == GridOrder::row || order == GridOrder::snake_row;
  const bool snake = order == GridOrder::snake_row || order == GridOrder::snake_column;
  const std::int64_t length = by_row ? columns : rows;
  const std::int64_t line = tile / length;
  std::int64_t along = tile % length;
  if (snake && line % 2 == 1) along = length - 1 - along;
  GridCell cell = by_row ? GridCell{line, along} : GridCell{along, line};
  if (corner == GridCorner::top_right || corner == GridCorner::bottom_right) {
    cell.column = columns - 1 - cell.column;
  }
  if (corner == GridCorner::bottom_left || corner == GridCorner::bottom_right) {
    cell.row = rows - 1 - cell.row;
  }
  return cell;
}

}  // namespace warpalign::program
