// Line plots as SVG.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotLine {
  std::string label;   ///< in the legend; no entry if empty
  std::string colour;  ///< an SVG colour
  std::vector<PlotPoint> points;
  bool dashed = false;
  bool markers = false;
};

/// A plot with a pair of axes that cover the points.
struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<PlotLine> lines;
  bool y_from_zero = false;
};

enum class PlotArrangement { side_by_side, below_one_another };

/// Draws the plots as one SVG image.
[[nodiscard]] std::string draw_plots(const std::vector<Plot>& plots,
                                     PlotArrangement arrangement = PlotArrangement::side_by_side);
[[nodiscard]] std::string plot_colour(std::size_t n);

}  // namespace warpalign::program
