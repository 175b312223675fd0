// The tables of a record.
#include "bench/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace warpalign::program::bench {
namespace {

constexpr const char* none = "";

std::string cell_of(const std::optional<double>& value) {
  return value ? short_number(*value) : std::string(none);
}

double fastest(const Record& record, const std::string& suite, const Row& row,
               const std::vector<std::string>& columns) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& column : columns) {
    const Result* result = record.find(column, suite, row.name, row.size);
    if (result != nullptr) least = std::min(least, result->timing.time.median);
  }
  return least;
}

bool has_copies(const Record& record, const std::string& column) {
  return std::any_of(record.results.begin(), record.results.end(), [&](const Result& result) {
    return result.suite == "copy" && result.column == column;
  });
}

std::vector<Cell> cells_of(const Record& record, const Result* result, double least,
                           bool with_copy) {
  std::vector<Cell> cells(2);
  if (result != nullptr) {
    const double time = result->timing.time.median;
    cells = {{short_number(time), time <= least}, {short_number(time / least), false, true}};
  }
  if (!with_copy) return cells;
  cells.push_back({result == nullptr ? none : cell_of(record.to_copy(*result)), false, true});
  return cells;
}

}  // namespace

std::vector<std::string> columns_of(const Record& record, const std::string& suite) {
  std::vector<std::string> columns;
  for (const Column& column : record.columns) {
    const bool there = std::any_of(
        record.results.begin(), record.results.end(),
        [&](const Result& result) { return result.suite == suite && result.column == column.id; });
    if (there) columns.push_back(column.id);
  }
  return columns;
}

std::vector<Row> rows_of(const Record& record, const std::string& suite) {
  std::vector<Row> rows;
  for (const Result& result : record.results) {
    const auto same = [&](const Row& row) {
      return row.name == result.name && row.size == result.size;
    };
    if (result.suite == suite && std::none_of(rows.begin(), rows.end(), same)) {
      rows.push_back({result.name, result.size});
    }
  }
  return rows;
}

std::string described(const Record& record, const std::string& column) {
  const Column* found = record.column(column);
  return found == nullptr ? column : column + ", " + found->name;
}

Table suite_table(const Record& record, const std::string& suite) {
  const std::vector<std::string> columns = columns_of(record, suite);
  const auto compared = [&](const std::string& column) {
    return suite != "copy" && has_copies(record, column);
  };
  Table table;
  table.title = suite == "copy" ? "Device copy of an f32 image" : suite + ": all cases";
  table.text_columns = 2;
  table.header = {"case", "size"};
  for (const std::string& column : columns) {
    table.header.insert(table.header.end(), {column + " ms", "/ fastest"});
    if (compared(column)) table.header.emplace_back("/ copy");
  }
  for (const Row& row : rows_of(record, suite)) {
    std::vector<Cell> cells{{row.name}, {to_string(row.size)}};
    const double least = fastest(record, suite, row, columns);
    for (const std::string& column : columns) {
      const auto more =
          cells_of(record, record.find(column, suite, row.name, row.size), least, compared(column));
      cells.insert(cells.end(), more.begin(), more.end());
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table details_table(const Record& record, const std::string& suite) {
  Table table;
  table.title = suite + ": every figure";
  table.text_columns = 3;
  table.header = {"case",      "size",       "on",        "ms",        "16 %",
                  "84 %",      "samples",    "runs each", "buffers",   "wall ms",
                  "first use", "plan",       "upload",    "download",  "GB/s",
                  "of copy",   "per second", "error",     "tolerance", "figure"};
  for (const Result& result : record.results) {
    if (result.suite != suite) continue;
    const Timing& timing = result.timing;
    const double seconds = timing.time.median * 1e-3;
    const auto share = record.share_of_copy(result);
    table.rows.push_back(
        {{result.name},
         {to_string(result.size)},
         {result.column},
         {short_number(timing.time.median) + (timing.by_events ? "" : " (wall)"), true},
         {short_number(timing.time.low)},
         {short_number(timing.time.high)},
         {std::to_string(timing.time.samples)},
         {std::to_string(timing.runs_per_sample)},
         {std::to_string(timing.buffer_sets)},
         {short_number(timing.wall)},
         {cell_of(timing.first_use)},
         {cell_of(timing.plan)},
         {cell_of(timing.upload)},
         {cell_of(timing.download)},
         {result.bytes > 0 ? short_number(result.bytes / seconds * 1e-9) : none},
         {share ? fmt::format("{:.0f} %", 100 * *share) : none},
         {fmt::format("{:.3g} {}", result.operations / seconds, result.unit)},
         {fmt::format("{:.1e}", result.verdict.error)},
         {fmt::format("{:.1e}", result.verdict.tolerance)},
         {result.quality.name.empty()
              ? none
              : fmt::format("{} {:.3g}", result.quality.name, result.quality.value)}});
  }
  return table;
}

Table columns_table(const Record& record) {
  Table table;
  table.title = "Devices";
  table.text_columns = 5;
  table.header = {"name", "device", "platform", "driver", "", "copy GB/s"};
  for (const Column& column : record.columns) {
    double best = 0;
    for (const Result& result : record.results) {
      if (result.suite != "copy" || result.column != column.id) continue;
      best = std::max(best, result.bytes / result.timing.time.median * 1e-6);
    }
    table.rows.push_back({{column.id, true},
                          {column.name},
                          {column.platform},
                          {column.driver},
                          {column.details, false, true},
                          {best > 0 ? short_number(best) : none}});
  }
  return table;
}

Table failures_table(const Record& record) {
  Table table;
  table.title = "What failed";
  table.text_columns = 4;
  table.header = {"on", "case", "size", "why"};
  for (const Failure& failure : record.failures) {
    const bool whole_device = failure.suite.empty();
    table.rows.push_back({{failure.column},
                          {whole_device ? "everything" : failure.suite + ", " + failure.name},
                          {whole_device ? none : to_string(failure.size)},
                          {failure.reason}});
  }
  return table;
}

}  // namespace warpalign::program::bench
