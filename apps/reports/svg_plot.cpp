// Line plots as SVG.
#include "reports/svg_plot.hpp"

#include "io/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace warpalign::program {
namespace {

constexpr double panel_width = 560;
constexpr double panel_height = 400;
constexpr double left = 78;
constexpr double right = 18;
constexpr double top = 40;
constexpr double bottom = 56;

struct Range {
  double from = 0;
  double to = 1;
  double tick = 0.2;
};

/// The distance of ticks: 1, 2 or 5 times a power of ten, about a fifth of the span.
double nice_tick(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * 5 >= span * 0.999) return factor * power;
  }
  return 10 * power;
}

Range range_of(const Plot& plot, double PlotPoint::*axis, bool from_zero, double room) {
  double least = from_zero ? 0 : std::numeric_limits<double>::infinity();
  double most = from_zero ? 0 : -std::numeric_limits<double>::infinity();
  for (const PlotLine& line : plot.lines) {
    for (const PlotPoint& point : line.points) {
      least = std::min(least, point.*axis);
      most = std::max(most, point.*axis);
    }
  }
  if (!(least < most)) {
    const double half = std::isfinite(least) && least != 0 ? std::abs(least) / 2 : 0.5;
    least = std::isfinite(least) ? least - half : 0;
    most = least + 2 * half;
  }
  const double span = most - least;
  if (!from_zero) least -= room * span;
  return {least, most + room * span, nice_tick(span)};
}

/// Draws a pair of axes with the panel's lower left corner at `offset`.
class Panel {
 public:
  Panel(const Plot& plot, double offset)
      : plot_(plot),
        offset_(offset),
        x_(range_of(plot, &PlotPoint::x, false, 0.03)),
        y_(range_of(plot, &PlotPoint::y, plot.y_from_zero, 0.05)) {}

  std::string draw() {
    draw_frame();
    for (const double x : ticks_of(x_)) draw_x_tick(x);
    for (const double y : ticks_of(y_)) draw_y_tick(y);
    for (const PlotLine& line : plot_.lines) draw_line(line);
    draw_legend();
    return std::move(svg_);
  }

 private:
  static std::vector<double> ticks_of(const Range& range) {
    const auto first = static_cast<int>(std::ceil(range.from / range.tick));
    const auto last = static_cast<int>(std::floor(range.to / range.tick));
    std::vector<double> ticks;
    for (int i = first; i <= last; ++i) ticks.push_back(i * range.tick);
    return ticks;
  }
  static std::string tick_label(double value, const Range& range) {
    return fmt::format("{:.6g}", std::abs(value) < range.tick * 1e-6 ? 0.0 : value);
  }
  [[nodiscard]] double x_at(double x) const {
    return offset_ + left + (x - x_.from) / (x_.to - x_.from) * (panel_width - left - right);
  }
  [[nodiscard]] double y_at(double y) const {
    return panel_height - bottom -
           (y - y_.from) / (y_.to - y_.from) * (panel_height - top - bottom);
  }

  void text(double x, double y, const char* anchor, const std::string& words,
            const std::string& more = "") {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                        anchor, more, escaped(words));
  }
  void stroke(double x1, double y1, double x2, double y2, const std::string& style) {
    svg_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                        y1, x2, y2, style);
  }

  void draw_frame() {
    const double middle = (panel_height - bottom + top) / 2;
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
        "stroke=\"#444\"/>\n",
        offset_ + left, top, panel_width - left - right, panel_height - top - bottom);
    text(offset_ + (left + panel_width - right) / 2, top - 14, "middle", plot_.title,
         " font-weight=\"bold\"");
    text(offset_ + (left + panel_width - right) / 2, panel_height - 14, "middle", plot_.x_label);
    text(offset_ + 18, middle, "middle", plot_.y_label,
         fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", offset_ + 18, middle));
  }
  void draw_x_tick(double x) {
    stroke(x_at(x), top, x_at(x), panel_height - bottom, "stroke=\"#ddd\"");
    text(x_at(x), panel_height - bottom + 18, "middle", tick_label(x, x_));
  }
  void draw_y_tick(double y) {
    stroke(offset_ + left, y_at(y), offset_ + panel_width - right, y_at(y), "stroke=\"#ddd\"");
    text(offset_ + left - 7, y_at(y) + 4, "end", tick_label(y, y_));
  }

  void draw_line(const PlotLine& line) {
    std::string points;
    for (const PlotPoint& point : line.points) {
      points += fmt::format("{:.2f},{:.2f} ", x_at(point.x), y_at(point.y));
    }
    svg_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", points,
        line.colour, line.dashed ? " stroke-dasharray=\"7 5\"" : "");
    for (const PlotPoint& point : line.points) {
      if (!line.markers) break;
      svg_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3.5\" fill=\"{}\"/>\n",
                          x_at(point.x), y_at(point.y), line.colour);
    }
  }

  /// Puts the legend into the upper corner where the lines leave more room.
  void draw_legend() {
    constexpr double row = 18;
    std::size_t longest = 0;
    double rows = 0;
    for (const PlotLine& line : plot_.lines) {
      if (line.label.empty()) continue;
      longest = std::max(longest, line.label.size());
      ++rows;
    }
    if (rows == 0) return;
    const double width = 44 + 6.6 * static_cast<double>(longest);
    const double far_left = offset_ + left + 10;
    const double far_right = offset_ + panel_width - right - 10 - width;
    const double x =
        points_under(far_left, width, rows * row) <= points_under(far_right, width, rows * row)
            ? far_left
            : far_right;
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"white\" "
        "fill-opacity=\"0.85\"/>\n",
        x, top + 8, width, rows * row + 6);
    double y = top + 8 + row;
    for (const PlotLine& line : plot_.lines) {
      if (line.label.empty()) continue;
      stroke(x + 6, y - 4, x + 34, y - 4,
             fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", line.colour,
                         line.dashed ? " stroke-dasharray=\"7 5\"" : ""));
      text(x + 40, y, "start", line.label);
      y += row;
    }
  }
  [[nodiscard]] std::size_t points_under(double x, double width, double height) const {
    std::size_t count = 0;
    for (const PlotLine& line : plot_.lines) {
      count += static_cast<std::size_t>(
          std::count_if(line.points.begin(), line.points.end(), [&](const PlotPoint& point) {
            return x_at(point.x) >= x && x_at(point.x) <= x + width &&
                   y_at(point.y) <= top + 14 + height;
          }));
    }
    return count;
  }

  const Plot& plot_;
  double offset_;
  Range x_;
  Range y_;
  std::string svg_;
};

}  // namespace

std::string draw_plots(const std::vector<Plot>& plots, PlotArrangement arrangement) {
  const bool across = arrangement == PlotArrangement::side_by_side;
  const auto count = static_cast<double>(plots.size());
  const double width = panel_width * (across ? count : 1);
  const double height = panel_height * (across ? 1 : count);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const auto place = static_cast<double>(i);
    if (across) {
      svg += Panel(plots[i], panel_width * place).draw();
      continue;
    }
    svg += fmt::format("<g transform=\"translate(0 {:.0f})\">\n", panel_height * place);
    svg += Panel(plots[i], 0).draw() + "</g>\n";
  }
  return svg + "</svg>\n";
}

std::string plot_colour(std::size_t n) {
  // Okabe and Ito's palette.
  constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                               "#e69f00", "#56b4e9", "#000000"};
  return colours[n % colours.size()];
}

}  // namespace warpalign::program
