// Tables, as text and as HTML.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program::bench {

struct Cell {
  std::string text;
  bool strong = false;  ///< the best of its row
  bool quiet = false;   ///< a remark on the adjacent cell
};

struct Table {
  std::string title;
  std::string note;  ///< below the table; may be empty
  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;
  std::size_t text_columns = 1;  ///< number of leading text columns; the others are numbers
};

/// Formats the table as text with aligned columns below the title.
[[nodiscard]] std::string as_text(const Table& table);
[[nodiscard]] std::string as_html(const Table& table);

/// Three significant digits: "0.0142", "2.36", "12.5", "1034".
[[nodiscard]] std::string short_number(double value);

}  // namespace warpalign::program::bench
