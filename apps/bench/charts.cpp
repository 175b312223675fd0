// The charts of a report.
#include "bench/charts.hpp"

#include "bench/bar_chart.hpp"
#include "bench/tables.hpp"
#include "reports/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace warpalign::program::bench {
namespace {

/// Bars are cut at this many copies, or farther out if most are longer, so that one slow baseline
/// does not make all other bars look alike.
double max_shown(const BarChart& chart) {
  constexpr double max_copies = 12;
  std::vector<double> values;
  for (const BarGroup& group : chart.groups) {
    for (const Bar& bar : group.bars) values.push_back(bar.value);
  }
  return values.empty() ? max_copies : std::max(max_copies, 1.5 * spread_of(values).median);
}

/// The size at which most columns were measured; the larger one of two.
std::optional<Shape> shown_size(const Record& record, const std::string& suite) {
  std::optional<Shape> best;
  std::size_t most = 0;
  for (const Row& row : rows_of(record, suite)) {
    std::size_t count = 0;
    for (const Result& result : record.results) {
      if (result.suite == suite && result.size == row.size) ++count;
    }
    if (count > most || (count == most && best && row.size.pixels() > best->pixels())) {
      most = count;
      best = row.size;
    }
  }
  return best;
}

/// The columns that have a copy to compare with: devices, not a thread of the host.
std::vector<std::string> shown_columns(const Record& record, const std::string& suite) {
  std::vector<std::string> columns = columns_of(record, suite);
  const std::vector<std::string> copying = columns_of(record, "copy");
  std::erase_if(columns, [&](const std::string& column) {
    return std::find(copying.begin(), copying.end(), column) == copying.end();
  });
  return columns;
}

BarChart empty_chart(const Record& record, const std::string& suite, const std::string& title) {
  BarChart chart;
  chart.title = title;
  for (const std::string& column : shown_columns(record, suite)) {
    chart.legend.push_back(described(record, column));
  }
  return chart;
}

/// Converts a result to a bar; empty if it has no such figure.
using Figure = std::optional<Bar> (*)(const Record&, const Result&);

std::optional<Bar> copies(const Record& record, const Result& result) {
  const auto ratio = record.to_copy(result);
  if (!ratio) return std::nullopt;
  return Bar{
      0, *ratio,
      fmt::format("{}x   {} ms", short_number(*ratio), short_number(result.timing.time.median))};
}

std::optional<Bar> rate(const Record& /*record*/, const Result& result) {
  const double a_second = result.operations / result.timing.time.median * 1e3;
  return Bar{0, a_second, fmt::format("{}", short_number(a_second))};
}

BarChart filled(const Record& record, const std::string& suite, const Shape& size, BarChart chart,
                Figure figure) {
  const std::vector<std::string> columns = shown_columns(record, suite);
  for (const Row& row : rows_of(record, suite)) {
    if (row.size != size) continue;
    BarGroup group{row.name, {}};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Result* result = record.find(columns[i], suite, row.name, size);
      auto bar = result == nullptr ? std::nullopt : figure(record, *result);
      if (!bar) continue;
      bar->colour = i;
      group.bars.push_back(std::move(*bar));
    }
    if (!group.bars.empty()) chart.groups.push_back(std::move(group));
  }
  return chart;
}

std::string copy_chart(const Record& record, const std::string& suite, const Shape& size) {
  BarChart chart = empty_chart(
      record, suite,
      fmt::format("{}, {}: time in device copies of an f32 image of that size; shorter is faster",
                  suite, to_string(size)));
  chart.line_at = 1;
  chart.line_label = "one copy";
  chart = filled(record, suite, size, std::move(chart), copies);
  chart.most = max_shown(chart);
  return chart.groups.empty() ? std::string() : draw(chart);
}

std::string rate_chart(const Record& record, const std::string& suite, const Shape& size) {
  const BarChart chart = filled(
      record, suite, size,
      empty_chart(record, suite, fmt::format("{}, {}: frames a second", suite, to_string(size))),
      rate);
  return chart.groups.empty() ? std::string() : draw(chart);
}

/// Figure 2 of Champagnat & Le Sant.
std::string truncation_plot(const Record& record, const Shape& size) {
  Plot plot;
  plot.title = "RMS error after 36 rotations";
  plot.x_label = "taps of the FIR prefilter";
  plot.y_label = "grey levels of 255";
  const std::vector<std::string> columns = columns_of(record, "truncation");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    PlotLine fir{columns[i], plot_colour(i), {}, false, true};
    for (const Result& result : record.results) {
      if (result.suite != "truncation" || result.column != columns[i] || result.size != size ||
          !result.name.starts_with("fir:")) {
        continue;
      }
      fir.points.push_back({std::atof(result.name.c_str() + 4), result.quality.value});
    }
    const Result* exact = record.find(columns[i], "truncation", "exact", size);
    if (fir.points.empty() || exact == nullptr) continue;
    const double level = exact->quality.value;
    const PlotLine dashed{columns[i] + ", exact",
                          plot_colour(i),
                          {{fir.points.front().x, level}, {fir.points.back().x, level}},
                          true,
                          false};
    plot.lines.push_back(std::move(fir));
    plot.lines.push_back(dashed);
  }
  return plot.lines.empty() ? std::string() : draw_plots({plot});
}

BarGroup& group_named(BarChart& chart, const std::string& label) {
  for (BarGroup& group : chart.groups) {
    if (group.label == label) return group;
  }
  return chart.groups.emplace_back(BarGroup{label, {}});
}

/// Figure 4 of the registration paper: shares of one pair's device time.
std::string breakdown_chart(const Record& record, const Shape& size) {
  BarChart chart;
  chart.title =
      fmt::format("registration, {}: share of a pair's device time by stage", to_string(size));
  for (const Result& pair : record.results) {
    if (pair.suite != "registration" || pair.name != "pair, on the device" || pair.size != size ||
        pair.timing.parts.empty()) {
      continue;
    }
    double sum = 0;
    for (const Part& part : pair.timing.parts) sum += part.milliseconds;
    for (const Part& part : pair.timing.parts) {
      const double share = 100 * part.milliseconds / sum;
      group_named(chart, part.name)
          .bars.push_back(
              {chart.legend.size(), share,
               fmt::format("{:.0f} %   {} ms", share, short_number(part.milliseconds))});
    }
    chart.legend.push_back(described(record, pair.column));
  }
  return chart.groups.empty() ? std::string() : draw(chart);
}

}  // namespace

std::vector<std::string> charts_of(const Record& record, const std::string& suite) {
  const auto size = shown_size(record, suite);
  if (!size) return {};
  std::vector<std::string> charts;
  if (suite == "registration") {
    charts = {rate_chart(record, suite, *size), breakdown_chart(record, *size)};
  } else if (suite == "truncation") {
    charts = {truncation_plot(record, *size)};
  } else {
    charts = {copy_chart(record, suite, *size)};
  }
  std::erase(charts, std::string());
  return charts;
}

}  // namespace warpalign::program::bench
