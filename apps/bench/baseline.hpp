// Comparison with an older record by ratios within each run, which are insensitive to clock rates,
// drivers and other load on the machine.
#pragma once

#include "bench/record.hpp"
#include "bench/table.hpp"

#include <vector>

namespace warpalign::program::bench {

/// One result whose ratio changed.
struct Change {
  std::string column;
  std::string suite;
  std::string name;
  Shape size;
  std::string measure;  ///< "copy", or the name of the yardstick
  double before = 0;    ///< the time relative to the measure, in the older run
  double now = 0;

  [[nodiscard]] double factor() const noexcept { return now / before; }
};

struct Comparison {
  std::size_t compared = 0;  ///< number of ratios that both records have
  std::vector<Change>
      regressions;            ///< slower by more than the tolerance and the spread of the runs
  std::vector<Change> gains;  ///< faster by more than the tolerance and the spread of the runs
};

/// Smaller relative changes count as unchanged.
inline constexpr double baseline_tolerance = 0.10;

/// Columns match if backend, device and platform are the same; their ids may differ.
[[nodiscard]] Comparison compare(const Record& now, const Record& before);

/// Throws UsageError, naming the file, if the record has none of these columns, or if only one of
/// the two was made with a warm cache.
void refuse_incomparable(const std::string& file, const Record& before,
                         const std::vector<Column>& columns, bool hot);

[[nodiscard]] Table changes_table(const Comparison& comparison);

}  // namespace warpalign::program::bench
