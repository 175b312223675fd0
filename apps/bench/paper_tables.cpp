// The papers' tables and figures with our results added. Rows are compared at the paper's size if
// that size was measured.
#include "bench/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace warpalign::program::bench {
namespace {

constexpr const char* none = "";

Shape square(std::int64_t side) { return {side, side, 1}; }

std::optional<double> time_of(const Record& record, const std::string& column,
                              const std::string& suite, const std::string& name,
                              const Shape& size) {
  const Result* result = record.find(column, suite, name, size);
  if (result == nullptr) return std::nullopt;
  return result->timing.time.median;
}

Cell cell(const std::optional<double>& value) {
  return {value ? short_number(*value) : std::string(none)};
}

Cell ratio(const std::optional<double>& above, const std::optional<double>& below) {
  if (!above || !below) return {none};
  return {fmt::format("{:.2f}x", *above / *below), false, true};
}

bool has_any(const std::vector<Cell>& row) {
  return std::any_of(row.begin() + 1, row.end(), [](const Cell& one) { return !one.text.empty(); });
}

/// Adds rows for our columns below the paper's. Returns no table if there are none.
std::vector<Table> with_rows(Table table, std::vector<std::vector<Cell>> ours) {
  bool any = false;
  for (std::vector<Cell>& row : ours) {
    if (!has_any(row)) continue;
    any = true;
    table.rows.push_back(std::move(row));
  }
  if (!any) return {};
  return {std::move(table)};
}

/// The paper's size, or the closest measured one with the same number of dimensions.
std::optional<Shape> size_near(const Record& record, const std::string& suite,
                               const Shape& wanted) {
  std::optional<Shape> best;
  const auto distance = [&](const Shape& size) {
    const double ratio_of_widths =
        static_cast<double>(size.width) / static_cast<double>(wanted.width);
    return std::max(ratio_of_widths, 1 / ratio_of_widths);
  };
  for (const Row& row : rows_of(record, suite)) {
    const bool alike = (row.size.depth == 1) == (wanted.depth == 1);
    if (alike && (!best || distance(row.size) < distance(*best))) best = row.size;
  }
  return best;
}

struct PrefilterTimes {
  std::optional<double> iir;
  std::optional<double> fir;
  std::optional<double> exact;
};

PrefilterTimes prefilter_times(const Record& record, const std::string& column, const Shape& size) {
  const auto time = [&](const char* name) {
    return time_of(record, column, "prefilter", name, size);
  };
  return {time("iir:line"), time("fir:15"), time("exact")};
}

/// Champagnat & Le Sant, table 1.
std::vector<Table> prefilter_table(const Record& record) {
  Table table;
  table.title = "Champagnat & Le Sant, table 1: prefilter, ms";
  table.note =
      "IIR: one line a thread (Ruijters & Thevenaz). Exact: the recursive filter as this library "
      "runs it; on the host, the papers' recursion on one thread.";
  table.header = {"where"};
  for (const char* side : {"1024", "2048"}) {
    for (const char* what : {" IIR", " FIR15", " IIR/FIR15", " exact"}) {
      table.header.push_back(std::string(side) + what);
    }
  }
  const auto row = [](const std::string& where, std::initializer_list<PrefilterTimes> sizes) {
    std::vector<Cell> cells{{where}};
    for (const PrefilterTimes& times : sizes) {
      cells.insert(cells.end(), {cell(times.iir), cell(times.fir), ratio(times.iir, times.fir),
                                 cell(times.exact)});
    }
    return cells;
  };
  table.rows = {row("paper: GTX 260M", {{12.78, 2.9, {}}, {62.6, 11.15, {}}}),
                row("paper: Tesla C2050", {{5.52, 0.35, {}}, {12.506, 1.2, {}}})};
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "prefilter")) {
    ours.push_back(row(described(record, column), {prefilter_times(record, column, square(1024)),
                                                   prefilter_times(record, column, square(2048))}));
  }
  return with_rows(std::move(table), std::move(ours));
}

/// Champagnat & Le Sant, table 2.
std::vector<Table> budget_table(const Record& record) {
  const auto size = size_near(record, "prefilter", square(2048));
  if (!size) return {};
  Table table;
  table.title =
      fmt::format("Champagnat & Le Sant, table 2: rows and columns of {}, ms", to_string(*size));
  table.note =
      "Rows: the time of filtering rows only. Columns: the total minus the rows. If one kernel "
      "filters both, columns add little to the memory traffic of the rows; 0: less than a "
      "hundredth.";
  table.header = {"where"};
  for (const char* method : {"IIR", "FIR15", "exact"}) {
    for (const char* part : {" rows", " columns", " total"}) {
      table.header.push_back(std::string(method) + part);
    }
  }
  table.rows = {{{"paper: Tesla C2050, 2048 x 2048"},
                 {"10.2"},
                 {"2.3"},
                 {"12.5"},
                 {"0.59"},
                 {"0.61"},
                 {"1.2"},
                 {none},
                 {none},
                 {none}}};
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "prefilter")) {
    std::vector<Cell> cells{{described(record, column)}};
    for (const std::string method : {"iir:line", "fir:15", "exact"}) {
      const auto rows = time_of(record, column, "prefilter", method + ", rows only", *size);
      const auto total = time_of(record, column, "prefilter", method, *size);
      const bool both = rows && total;
      const double more = both ? *total - *rows : 0.0;
      const bool nothing = both && std::abs(more) < 0.01 * *total;
      cells.insert(cells.end(),
                   {cell(rows), both ? cell(nothing ? 0.0 : more) : Cell{none}, cell(total)});
    }
    ours.push_back(std::move(cells));
  }
  return with_rows(std::move(table), std::move(ours));
}

struct Table3Row {
  const char* label;
  const char* name;  ///< name in the suites
  std::array<double, 5> paper;
};

constexpr std::array<Table3Row, 4> table3{
    {{"bilinear", "bilinear, texture", {1.5, 1.56, 1.56, 1.56, 1.56}},
     {"FIR15", "fir:15 + texture", {3.2, 2.33, 2.12, 2.05, 2.04}},
     {"IIR", "iir:line + texture", {14.5, 5.16, 2.8, 2.2, 2.08}},
     {"exact, full precision", "exact + full", {}}}};

Cell time_and_ratio(const std::optional<double>& time, const std::optional<double>& bilinear) {
  if (!time) return {none};
  if (!bilinear) return {short_number(*time)};
  return {fmt::format("{}  ({:.2f}x)", short_number(*time), *time / *bilinear)};
}

/// Champagnat & Le Sant, table 3: its rotation column from one suite, its zooms from the other.
std::vector<Table> warp_table(const Record& record, const std::string& suite) {
  const auto size = size_near(record, suite, square(2048));
  if (!size) return {};
  const bool zoom = suite == "zoom";
  const std::vector<std::string> prefixes =
      zoom ? std::vector<std::string>{"x2 ", "x4 ", "x8 ", "x16 "} : std::vector<std::string>{""};
  Table table;
  table.title = fmt::format("Champagnat & Le Sant, table 3: {}, output {}, ms (x bilinear)",
                            zoom ? "zoom" : "rotation", to_string(*size));
  table.note = "Bilinear: the texture unit's own with CUDA, loads with OpenCL.";
  table.text_columns = 2;
  table.header = {"interpolation", "where"};
  for (const std::string& prefix : prefixes) {
    table.header.push_back(zoom ? prefix.substr(0, prefix.size() - 1) : std::string("rotation"));
  }
  bool any = false;
  for (const Table3Row& row : table3) {
    std::vector<Cell> paper{{row.label}, {"paper: Tesla C2050, 2048 x 2048"}};
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      const std::size_t at = zoom ? i + 1 : 0;
      paper.push_back(time_and_ratio(row.paper[at], table3[0].paper[at]));
    }
    if (row.paper[0] > 0) table.rows.push_back(std::move(paper));
    for (const std::string& column : columns_of(record, suite)) {
      std::vector<Cell> cells{{row.label}, {described(record, column)}};
      for (const std::string& prefix : prefixes) {
        const auto bilinear = time_of(record, column, suite, prefix + table3[0].name, *size);
        cells.push_back(
            time_and_ratio(time_of(record, column, suite, prefix + row.name, *size), bilinear));
      }
      const bool measured = std::any_of(cells.begin() + 2, cells.end(),
                                        [](const Cell& one) { return !one.text.empty(); });
      any = any || measured;
      if (measured) table.rows.push_back(std::move(cells));
    }
  }
  if (!any) return {};
  return {std::move(table)};
}

/// Champagnat & Le Sant, figure 2.
std::vector<Table> truncation_table(const Record& record) {
  const auto size = size_near(record, "truncation", square(512));
  if (!size) return {};
  Table table;
  table.title = fmt::format(
      "Champagnat & Le Sant, figure 2: RMS error after 36 rotations by 10 degrees, {}, grey levels",
      to_string(*size));
  table.note =
      "For the central disc of a synthetic scene. The paper uses Lena, 512 x 512, and reports that "
      "FIR converges to the recursive filter at 11 taps. 'warpalign experiment rotations' repeats "
      "this with any image.";
  table.header = {"where"};
  std::vector<std::string> names;
  for (const Row& row : rows_of(record, "truncation")) {
    if (row.size == *size) names.push_back(row.name);
  }
  table.header.insert(table.header.end(), names.begin(), names.end());
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "truncation")) {
    std::vector<Cell> cells{{described(record, column)}};
    for (const std::string& name : names) {
      const Result* result = record.find(column, "truncation", name, *size);
      cells.push_back(result == nullptr ? Cell{none} : cell(result->quality.value));
    }
    ours.push_back(std::move(cells));
  }
  return with_rows(std::move(table), std::move(ours));
}

/// Ruijters et al., table 1.
std::vector<Table> lookup_table(const Record& record) {
  const auto size = size_near(record, "interpolation", square(512));
  if (!size) return {};
  Table table;
  table.title =
      fmt::format("Ruijters et al., table 1: cubic interpolation of {}", to_string(*size));
  table.note =
      "RMS error against double precision. The paper's values are from 0 to 1 as ours, its image "
      "is not known.";
  table.header = {"where"};
  for (const char* name : {"table", "on the fly", "full precision"}) {
    table.header.insert(table.header.end(),
                        {name + std::string(" RMS"), name + std::string(" ms")});
  }
  table.rows = {{{"paper: GeForce 9800 GTX, 512 x 512"},
                 {"9.39e-05"},
                 {"0.96"},
                 {"8.58e-05"},
                 {"0.74"},
                 {none},
                 {none}}};
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "interpolation")) {
    std::vector<Cell> cells{{described(record, column)}};
    for (const char* name : {"lookup table", "on the fly", "full precision"}) {
      const Result* result = record.find(column, "interpolation", name, *size);
      const bool known = result != nullptr && !result->quality.name.empty();
      cells.push_back({known ? fmt::format("{:.2e}", result->quality.value) : std::string(none)});
      cells.push_back(cell(time_of(record, column, "interpolation", name, *size)));
    }
    ours.push_back(std::move(cells));
  }
  return with_rows(std::move(table), std::move(ours));
}

/// Ruijters et al., section 5: one table for each size.
std::vector<Table> tricubic_tables(const Record& record) {
  constexpr std::array<const char*, 5> names{"tricubic, 8 lookups", "tricubic, 64 neighbours",
                                             "trilinear, texture", "exact prefilter + 8 lookups",
                                             "exact prefilter + 64 neighbours"};
  std::vector<Shape> sizes;
  for (const Row& row : rows_of(record, "tricubic")) {
    if (std::find(sizes.begin(), sizes.end(), row.size) == sizes.end()) sizes.push_back(row.size);
  }
  std::vector<Table> tables;
  for (const Shape& size : sizes) {
    Table table;
    table.title = fmt::format("Ruijters et al., section 5: millions of interpolations a second, {}",
                              to_string(size));
    table.note = "The host runs the straightforward form on one thread, as the paper's Xeon did.";
    table.header = {"where"};
    table.header.insert(table.header.end(), names.begin(), names.end());
    table.rows = {
        {{"paper: GeForce 9800 GTX"}, {"356"}, {"93.6"}, {"486"}, {none}, {none}},
        {{"paper: Xeon 5140, one thread"}, {none}, {"0.45"}, {none}, {none}, {none}},
        {{"paper: Xeon 5140, SSE, several threads"}, {none}, {"10.3"}, {none}, {none}, {none}}};
    std::vector<std::vector<Cell>> ours;
    for (const std::string& column : columns_of(record, "tricubic")) {
      std::vector<Cell> cells{{described(record, column)}};
      for (const char* name : names) {
        const Result* result = record.find(column, "tricubic", name, size);
        cells.push_back(result == nullptr
                            ? Cell{none}
                            : cell(result->operations / result->timing.time.median * 1e-3));
      }
      ours.push_back(std::move(cells));
    }
    for (Table& made : with_rows(std::move(table), std::move(ours))) {
      tables.push_back(std::move(made));
    }
  }
  return tables;
}

constexpr std::array<std::int64_t, 3> paper_sides{512, 1024, 2048};

struct PaperRegistration {
  const char* where;
  std::array<double, 3> milliseconds;
};

constexpr std::array<PaperRegistration, 4> paper_registrations{
    {{"paper: Core i7, one thread", {513, 2240, 9972}},
     {"paper: GTX 580, CUDA", {2.6, 7.7, 28.9}},
     {"paper: GTX 260, CUDA", {4.9, 18.3, 86.3}},
     {"paper: HD 6950, OpenCL", {17.6, 31.5, 85.9}}}};

/// The slowest column for comparison: our own CPU with OpenCL.
std::optional<std::string> cpu_column(const Record& record, const std::string& suite) {
  for (const std::string& column : columns_of(record, suite)) {
    const Column* found = record.column(column);
    if (found != nullptr && found->kind == "cpu" && column != "host") return column;
  }
  return std::nullopt;
}

/// Registration paper, table 1.
std::vector<Table> registration_table(const Record& record) {
  const char* const name = "pair, from host memory";
  Table table;
  table.title = "Registration paper, table 1: a pair from host memory, ms (speed-up over the CPU)";
  const auto cpu = cpu_column(record, "registration");
  table.note = cpu ? "Ours are compared with all cores of this machine by OpenCL (" + *cpu +
                         "), the paper's with one thread of its CPU."
                   : std::string("No CPU device was measured in this run.");
  table.header = {"where", "512", "1024", "2048"};
  for (const PaperRegistration& paper : paper_registrations) {
    std::vector<Cell> cells{{paper.where}};
    for (std::size_t i = 0; i < paper_sides.size(); ++i) {
      cells.push_back(
          {fmt::format("{}  ({:.0f}x)", paper.milliseconds[i],
                       paper_registrations[0].milliseconds[i] / paper.milliseconds[i])});
    }
    table.rows.push_back(std::move(cells));
  }
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "registration")) {
    std::vector<Cell> cells{{described(record, column)}};
    for (const std::int64_t side : paper_sides) {
      const auto time = time_of(record, column, "registration", name, square(side));
      const auto base =
          cpu ? time_of(record, *cpu, "registration", name, square(side)) : std::nullopt;
      cells.push_back(
          {time ? short_number(*time) + (base ? fmt::format("  ({:.1f}x)", *base / *time) : "")
                : std::string(none)});
    }
    ours.push_back(std::move(cells));
  }
  return with_rows(std::move(table), std::move(ours));
}

double fft_sum(const Result& result) {
  double sum = 0;
  for (const Part& part : result.timing.parts) {
    if (part.name.find("fft") != std::string::npos) sum += part.milliseconds;
  }
  return sum;
}

/// Registration paper, figure 5, with the upper bound given by the FFTs.
std::vector<Table> frames_tables(const Record& record) {
  Table table;
  table.title = "Registration paper, figure 5: frames a second";
  table.note =
      "Paper: from host memory. Ours: a pair, and a moving image against a reference that is kept, "
      "on the device already. / FFTs: the pair's time in units of the sum of its FFTs.";
  table.header = {"where"};
  for (const char* side : {"512", "1024", "2048"}) {
    for (const char* what : {" pair", " moving", " pair / FFTs"}) {
      table.header.push_back(std::string(side) + what);
    }
  }
  for (const PaperRegistration& paper : paper_registrations) {
    std::vector<Cell> cells{{paper.where}};
    for (const double milliseconds : paper.milliseconds) {
      cells.insert(cells.end(), {cell(1000 / milliseconds), {none}, {none}});
    }
    table.rows.push_back(std::move(cells));
  }
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "registration")) {
    std::vector<Cell> cells{{described(record, column)}};
    for (const std::int64_t side : paper_sides) {
      const Result* pair = record.find(column, "registration", "pair, on the device", square(side));
      const auto moving =
          time_of(record, column, "registration", "moving image, on the device", square(side));
      cells.push_back(pair == nullptr ? Cell{none} : cell(1000 / pair->timing.time.median));
      cells.push_back(moving ? cell(1000 / *moving) : Cell{none});
      const double ffts = pair == nullptr ? 0 : fft_sum(*pair);
      cells.push_back(pair != nullptr && ffts > 0 ? ratio(pair->timing.time.median, ffts)
                                                  : Cell{none});
    }
    ours.push_back(std::move(cells));
  }
  return with_rows(std::move(table), std::move(ours));
}

/// Adds to `table` a row for each result that has parts, and a column for each part and their sum.
std::vector<Table> with_parts(Table table,
                              const std::vector<std::pair<std::string, const Result*>>& results) {
  table.header = {"where"};
  std::vector<std::vector<Cell>> ours;
  for (const auto& [where, result] : results) {
    if (result == nullptr || result->timing.parts.empty()) continue;
    std::vector<Cell> cells{{where}};
    cells.resize(std::max(table.header.size(), cells.size()));
    double sum = 0;
    for (const Part& part : result->timing.parts) {
      auto at = std::find(table.header.begin(), table.header.end(), part.name);
      if (at == table.header.end()) at = table.header.insert(table.header.end(), part.name);
      const auto index = static_cast<std::size_t>(at - table.header.begin());
      cells.resize(std::max(cells.size(), index + 1));
      cells[index] = cell(part.milliseconds);
      sum += part.milliseconds;
    }
    cells.push_back({short_number(sum), true});
    ours.push_back(std::move(cells));
  }
  table.header.emplace_back("sum");
  for (std::vector<Cell>& cells : ours) {
    const Cell sum = cells.back();
    cells.back() = {none};
    cells.resize(table.header.size());
    cells.back() = sum;
  }
  return with_rows(std::move(table), std::move(ours));
}

/// Registration paper, figure 4.
std::vector<Table> breakdown_table(const Record& record) {
  const auto size = size_near(record, "registration", square(2048));
  if (!size) return {};
  Table table;
  table.title = fmt::format("Registration paper, figure 4: device time by stage, a pair of {}, ms",
                            to_string(*size));
  table.note =
      "Each stage is timed between two events, which adds overhead: the sum exceeds the time of "
      "the "
      "pipeline. The gradient is not stored: it is computed for its mean (sobel_mean) and again "
      "for "
      "the windowed image (sobel_window).";
  std::vector<std::pair<std::string, const Result*>> pairs;
  for (const std::string& column : columns_of(record, "registration")) {
    pairs.emplace_back(described(record, column),
                       record.find(column, "registration", "pair, on the device", *size));
  }
  return with_parts(std::move(table), pairs);
}

/// The device time of hard pairs by stage.
std::vector<Table> search_table(const Record& record) {
  Table table;
  table.title = "Hard pairs: device time by stage, ms";
  table.note =
      "Each stage is timed between two events, which adds overhead. The difference between the "
      "times "
      "above and the sum is spent on the host, mostly waiting for results.";
  std::vector<std::pair<std::string, const Result*>> pairs;
  for (const Result& result : record.results) {
    if (result.suite != "search") continue;
    pairs.emplace_back(fmt::format("{}, {}: {}", described(record, result.column),
                                   to_string(result.size), result.name),
                       &result);
  }
  return with_parts(std::move(table), pairs);
}

/// Registration paper, section 4: the claim about its Sobel kernel.
std::vector<Table> sobel_table(const Record& record) {
  Table table;
  table.title = "Registration paper, section 4: how much faster the packed Sobel kernel is";
  table.note = "The paper: more than 3 times as fast as the sample codes of the CUDA and APP SDKs.";
  table.header = {"where"};
  std::vector<Shape> sizes;
  for (const Row& row : rows_of(record, "sobel")) {
    if (std::find(sizes.begin(), sizes.end(), row.size) == sizes.end()) sizes.push_back(row.size);
  }
  for (const Shape& size : sizes) {
    table.header.insert(table.header.end(), {to_string(size) + " packed ms", "plain ms", "ratio"});
  }
  std::vector<std::vector<Cell>> ours;
  for (const std::string& column : columns_of(record, "sobel")) {
    std::vector<Cell> cells{{described(record, column)}};
    for (const Shape& size : sizes) {
      const auto packed = time_of(record, column, "sobel", "packed", size);
      const auto plain = time_of(record, column, "sobel", "plain, nine reads", size);
      cells.insert(cells.end(), {cell(packed), cell(plain), ratio(plain, packed)});
    }
    ours.push_back(std::move(cells));
  }
  return with_rows(std::move(table), std::move(ours));
}

std::vector<Table> joined(std::initializer_list<std::vector<Table>> parts) {
  std::vector<Table> all;
  for (const std::vector<Table>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::vector<Table> paper_tables(const Record& record, const std::string& suite) {
  if (suite == "prefilter") return joined({prefilter_table(record), budget_table(record)});
  if (suite == "rotation" || suite == "zoom") return warp_table(record, suite);
  if (suite == "truncation") return truncation_table(record);
  if (suite == "interpolation") return lookup_table(record);
  if (suite == "tricubic") return tricubic_tables(record);
  if (suite == "sobel") return sobel_table(record);
  if (suite == "search") return search_table(record);
  if (suite == "registration") {
    return joined({registration_table(record), frames_tables(record), breakdown_table(record)});
  }
  return {};
}

}  // namespace warpalign::program::bench
