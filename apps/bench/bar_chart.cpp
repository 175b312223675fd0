// Horizontal bar charts as SVG.
#include "bench/bar_chart.hpp"

#include "io/markup.hpp"
#include "reports/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program::bench {
namespace {

constexpr double width = 900;
constexpr double labels = 235;  ///< width of the labels left of the bars
constexpr double texts = 150;   ///< width of the texts right of the longest bar
constexpr double bar_height = 13;
constexpr double group_gap = 9;
constexpr double legend_row = 17;
constexpr double below_legend = 16;

class Drawing {
 public:
  explicit Drawing(const BarChart& chart) : chart_(chart) {
    place_legend();
    for (const BarGroup& group : chart.groups) {
      for (const Bar& bar : group.bars) longest_ = std::max(longest_, bar.value);
      height_ += bar_height * static_cast<double>(group.bars.size()) + group_gap;
    }
    if (chart.most > 0) longest_ = std::min(longest_, chart.most);
    longest_ = std::max(longest_, chart.line_at);
  }

  std::string draw() {
    text(0, 16, "start", chart_.title, " font-weight=\"600\" font-size=\"14\"");
    draw_legend();
    double y = top_;
    for (const BarGroup& group : chart_.groups) y = draw_group(group, y);
    draw_line(y);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
        "role=\"img\" aria-label=\"{2}\">\n{3}</svg>\n",
        width, height_ + top_ + 20, escaped(chart_.title), svg_);
  }

 private:
  [[nodiscard]] double length_of(double value) const {
    return longest_ > 0 ? std::min(value, longest_) / longest_ * (width - labels - texts) : 0;
  }

  void text(double x, double y, const char* anchor, const std::string& words,
            const std::string& more = "") {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                        anchor, more, escaped(words));
  }

  void rectangle(double x, double y, double w, double h, const std::string& colour) {
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
        w, h, colour);
  }

  /// Places entries from left to right, and starts a new row if one does not fit.
  void place_legend() {
    double x = labels;
    double y = 40;
    for (const std::string& entry : chart_.legend) {
      const double wide = 34 + 6.8 * static_cast<double>(entry.size());
      if (x > labels && x + wide > width) {
        x = labels;
        y += legend_row;
      }
      entries_.push_back({x, y});
      x += wide;
    }
    top_ = y + below_legend;
  }

  void draw_legend() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& [x, y] = entries_[i];
      rectangle(x, y - 10, 11, 11, plot_colour(i));
      text(x + 16, y, "start", chart_.legend[i]);
    }
  }

  double draw_group(const BarGroup& group, double y) {
    const double height = bar_height * static_cast<double>(group.bars.size());
    text(labels - 8, y + height / 2 + 4, "end", group.label);
    for (const Bar& bar : group.bars) {
      const double length = std::max(length_of(bar.value), 1.0);
      rectangle(labels, y, length, bar_height - 2, plot_colour(bar.colour));
      if (bar.value > longest_ * 1.0001) {  // cut: a white slit near the end
        rectangle(labels + length - 14, y - 1, 4, bar_height, "white");
      }
      text(labels + length + 6, y + bar_height - 4, "start", bar.text, " font-size=\"11\"");
      y += bar_height;
    }
    return y + group_gap;
  }

  void draw_line(double bottom) {
    if (chart_.line_at <= 0) return;
    const double x = labels + length_of(chart_.line_at);
    svg_ += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#555\" "
        "stroke-dasharray=\"4 3\"/>\n",
        x, top_ - 6, bottom);
    text(x, bottom + 13, "middle", chart_.line_label, " fill=\"#555\"");
  }

  const BarChart& chart_;
  std::vector<PlotPoint> entries_;  ///< positions of the legend's entries
  double top_ = 0;                  ///< top of the bars
  double longest_ = 0;
  double height_ = 0;
  std::string svg_;
};

}  // namespace

std::string draw(const BarChart& chart) { return Drawing(chart).draw(); }

}  // namespace warpalign::program::bench
