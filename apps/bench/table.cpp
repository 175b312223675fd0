// Tables, as text and as HTML.
#include "bench/table.hpp"

#include "io/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpalign::program::bench {
namespace {

/// The width of a text on a terminal in columns, for the Latin letters and signs that occur here.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t own = width_of(text);
  const std::string blank(width > own ? width - own : 0, ' ');
  return right ? blank + text : text + blank;
}

std::string html_row(const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += cell;
  return row + "</tr>\n";
}

}  // namespace

std::string as_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& head : table.header) widths.push_back(width_of(head));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  const auto line = [&](const auto& text_at, std::size_t count) {
    std::string words = " ";
    for (std::size_t i = 0; i < count; ++i) {
      words += fmt::format(" {} ", padded(text_at(i), widths[i], i >= table.text_columns));
    }
    words.erase(words.find_last_not_of(' ') + 1);
    return words + "\n";
  };
  std::string text = table.title + "\n";
  text += line([&](std::size_t i) { return table.header[i]; }, table.header.size());
  for (const auto& row : table.rows) {
    text += line([&](std::size_t i) { return row[i].text; }, row.size());
  }
  return table.note.empty() ? text : text + "  " + table.note + "\n";
}

std::string as_html(const Table& table) {
  const auto kind_of = [&](std::size_t i, const Cell& cell) {
    std::string names = i < table.text_columns ? "w" : "n";
    if (cell.strong) names += " best";
    if (cell.quiet) names += " quiet";
    return names;
  };
  std::string html =
      "<h3>" + escaped(table.title) + "</h3>\n<div class=\"scroll\"><table>\n<thead>";
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    cells.push_back(
        fmt::format("<th class=\"{}\">{}</th>", kind_of(i, {}), escaped(table.header[i])));
  }
  html += html_row(cells) + "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    cells.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(
          fmt::format("<td class=\"{}\">{}</td>", kind_of(i, row[i]), escaped(row[i].text)));
    }
    html += html_row(cells);
  }
  html += "</tbody></table></div>\n";
  if (!table.note.empty()) html += "<p class=\"note\">" + escaped(table.note) + "</p>\n";
  return html;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  if (size >= 0.1) return fmt::format("{:.3f}", value);
  if (size >= 0.001 || size == 0) return fmt::format("{:.4f}", value);
  return fmt::format("{:.2e}", value);
}

}  // namespace warpalign::program::bench
