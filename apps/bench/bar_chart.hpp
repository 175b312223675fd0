// Horizontal bar charts as SVG.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program::bench {

struct Bar {
  std::size_t colour = 0;  ///< index for plot_colour()
  double value = 0;
  std::string text;  ///< label at the end of the bar
};

struct BarGroup {
  std::string label;
  std::vector<Bar> bars;
};

struct BarChart {
  std::string title;
  std::vector<std::string> legend;  ///< entry i has colour i
  std::vector<BarGroup> groups;
  double line_at = 0;  ///< if above 0, a vertical line is drawn there
  std::string line_label{};
  double most = 0;  ///< if above 0, longer bars are cut there and marked
};

[[nodiscard]] std::string draw(const BarChart& chart);

}  // namespace warpalign::program::bench
