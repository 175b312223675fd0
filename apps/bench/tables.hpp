// The tables of a record: one for each suite, and the papers' tables with our results added.
#pragma once

#include "bench/record.hpp"
#include "bench/table.hpp"

#include <string>
#include <vector>

namespace warpalign::program::bench {

/// All cases of a suite, devices side by side.
[[nodiscard]] Table suite_table(const Record& record, const std::string& suite);

/// The papers' tables and figures that belong to a suite; none if nothing in them was measured.
[[nodiscard]] std::vector<Table> paper_tables(const Record& record, const std::string& suite);

/// All data of every result.
[[nodiscard]] Table details_table(const Record& record, const std::string& suite);

/// The devices.
[[nodiscard]] Table columns_table(const Record& record);
[[nodiscard]] Table failures_table(const Record& record);

/// The names of a suite's columns and the (name, size) pairs of its rows, in order of appearance.
struct Row {
  std::string name;
  Shape size;
};
[[nodiscard]] std::vector<std::string> columns_of(const Record& record, const std::string& suite);
[[nodiscard]] std::vector<Row> rows_of(const Record& record, const std::string& suite);
/// "cuda:0, NVIDIA H100 80GB HBM3".
[[nodiscard]] std::string described(const Record& record, const std::string& column);

}  // namespace warpalign::program::bench
