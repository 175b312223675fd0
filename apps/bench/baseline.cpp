// Comparison with an older record.
#include "bench/baseline.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program::bench {
namespace {

std::string backend_of(const Column& column) { return column.id.substr(0, column.id.find(':')); }

bool same_device(const Column& a, const Column& b) {
  return backend_of(a) == backend_of(b) && a.name == b.name && a.platform == b.platform;
}

const Column* counterpart(const std::vector<Column>& columns, const Column& column) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& other) { return same_device(column, other); });
  return found == columns.end() ? nullptr : &*found;
}

/// Half the width of a result's spread, relative to its median.
double spread(const Result& result) {
  const Spread& time = result.timing.time;
  return (time.high - time.low) / 2 / time.median;
}

class Comparer {
 public:
  Comparer(const Record& now, const Record& before) : now_(now), before_(before) {}

  void add(const Result& now, const Result& before) {
    if (const auto a = now_.to_copy(now), b = before_.to_copy(before); a && b) {
      note(now, before, "copy", *b, *a);
    }
    if (now.yardstick == now.name || now.yardstick != before.yardstick) return;
    if (const auto a = now_.to_yardstick(now), b = before_.to_yardstick(before); a && b) {
      note(now, before, now.yardstick, *b, *a);
    }
  }

  Comparison take() {
    const auto worse = [](const Change& a, const Change& b) { return a.factor() > b.factor(); };
    std::sort(result_.regressions.begin(), result_.regressions.end(), worse);
    std::sort(result_.gains.begin(), result_.gains.end(),
              [&](const Change& a, const Change& b) { return worse(b, a); });
    return std::move(result_);
  }

 private:
  void note(const Result& now, const Result& before, const std::string& measure, double old_ratio,
            double new_ratio) {
    ++result_.compared;
    const Change change{now.column, now.suite, now.name, now.size, measure, old_ratio, new_ratio};
    const double allowed = 1 + std::max(baseline_tolerance, spread(now) + spread(before));
    if (change.factor() > allowed) result_.regressions.push_back(change);
    if (change.factor() < 1 / allowed) result_.gains.push_back(change);
  }

  const Record& now_;
  const Record& before_;
  Comparison result_;
};

}  // namespace

Comparison compare(const Record& now, const Record& before) {
  Comparer comparer(now, before);
  for (const Result& result : now.results) {
    const Column* own = now.column(result.column);
    const Column* other = own == nullptr ? nullptr : counterpart(before.columns, *own);
    if (other == nullptr || result.suite == "copy") continue;
    const Result* old = before.find(other->id, result.suite, result.name, result.size);
    if (old != nullptr) comparer.add(result, *old);
  }
  return comparer.take();
}

void refuse_incomparable(const std::string& file, const Record& before,
                         const std::vector<Column>& columns, bool hot) {
  if (before.settings.hot != hot) {
    throw UsageError(
        fmt::format("--baseline {}: was measured {} --hot; use the same setting for this run", file,
                    before.settings.hot ? "with" : "without"));
  }
  const bool any = std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
    return counterpart(before.columns, column) != nullptr;
  });
  if (any) return;
  std::string there;
  for (const Column& column : before.columns) {
    there += (there.empty() ? "" : "; ") + column.id + ", " + column.name;
  }
  throw UsageError(fmt::format("--baseline {}: holds none of this run's devices, but {}", file,
                               there.empty() ? "none at all" : there));
}

Table changes_table(const Comparison& comparison) {
  Table table;
  table.title =
      fmt::format("Against the baseline: {} of {} ratios are worse, {} are better",
                  comparison.regressions.size(), comparison.compared, comparison.gains.size());
  table.note = fmt::format(
      "Times in units of a device copy, or of the suite's yardstick, within each run. Changes of "
      "less than {:.0f} %, or less than both runs' spread, count as none.",
      100 * baseline_tolerance);
  table.text_columns = 6;
  table.header = {"", "on", "suite", "case", "size", "in units of", "before", "now", "factor"};
  const auto add = [&](const char* word, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      table.rows.push_back({{word, true},
                            {change.column},
                            {change.suite},
                            {change.name},
                            {to_string(change.size)},
                            {change.measure},
                            {short_number(change.before)},
                            {short_number(change.now)},
                            {fmt::format("{:.2f}", change.factor())}});
    }
  };
  add("regression", comparison.regressions);
  add("gain", comparison.gains);
  return table;
}

}  // namespace warpalign::program::bench
