// Draws a displacement field as arrows over a picture.
#include "reports/field_arrows.hpp"

#include "io/markup.hpp"
#include "reports/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpalign::program {
namespace {

constexpr std::int64_t max_arrows = 32;  // along an axis

/// Which windows have an arrow, and the factor by which arrows are longer than displacements.
struct ArrowScale {
  std::int64_t step = 1;
  double pitch = 1;  ///< between arrows, in pixels of the frame
  double factor = 1;
};

/// Rounds down to 1, 2 or 5 times a power of ten.
double round_number_below(double number) {
  const double power = std::pow(10, std::floor(std::log10(number)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= number) return digit * power;
  }
  return power;
}

ArrowScale scale_of(const FrameMotion& motion, const FieldSummary& field) {
  ArrowScale scale;
  const std::int64_t most = std::max(motion.windows_x, motion.windows_y);
  scale.step = (most + max_arrows - 1) / max_arrows;
  const Shape& frame = motion.field->frame();
  const double windows = static_cast<double>(most);
  scale.pitch = static_cast<double>(std::max(frame.width, frame.height)) / windows *
                static_cast<double>(scale.step);
  if (field.largest > 0) scale.factor = round_number_below(1.2 * scale.pitch / field.largest);
  return scale;
}

const char* colour_of(const FrameMotion& motion, std::size_t window) {
  if (motion.used(window)) return "#37e05c";
  return motion.outliers[window] ? "#ff9d2e" : "#c0c0c8";
}

std::string arrow(const Point& from, const Point& to, const char* colour, double width) {
  std::string svg = fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\"/>",
                                from.x, from.y, 1.2 * width, colour);
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length < width) return svg;
  const Point along{(to.x - from.x) / length, (to.y - from.y) / length};
  const double head = std::min(5 * width, length / 2);
  const auto wing = [&](double side) {
    return fmt::format("{:.2f},{:.2f}", to.x - head * along.x - side * head / 2 * along.y,
                       to.y - head * along.y + side * head / 2 * along.x);
  };
  return svg + fmt::format(
                   "<path d=\"M{:.2f},{:.2f}L{:.2f},{:.2f}M{}L{:.2f},{:.2f}L{}\" fill=\"none\" "
                   "stroke=\"{}\" stroke-width=\"{:.2f}\"/>\n",
                   from.x, from.y, to.x, to.y, wing(1), to.x, to.y, wing(-1), colour, width);
}

}  // namespace

std::string draw_field_arrows(const LoadedImage& picture, const FrameMotion& motion) {
  const Shape& frame = motion.field->frame();
  const FieldSummary field = summary_of(motion);
  const ArrowScale scale = scale_of(motion, field);
  const double line = std::max(static_cast<double>(std::max(frame.width, frame.height)) / 300, 0.4);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" viewBox=\"-0.5 -0.5 {} {}\">"
      "<title>{}</title>\n<image x=\"-0.5\" y=\"-0.5\" width=\"{}\" height=\"{}\" "
      "preserveAspectRatio=\"none\" href=\"{}\"/>\n",
      std::clamp<std::int64_t>(frame.width, 480, 1024), frame.width, frame.height,
      escaped(field_arrows_words(motion)), frame.width, frame.height, png_link(picture));
  for (std::int64_t row = 0; row < motion.windows_y; row += scale.step) {
    for (std::int64_t column = 0; column < motion.windows_x; column += scale.step) {
      const auto window = static_cast<std::size_t>(row * motion.windows_x + column);
      const Point from = motion.shifts[window].centre;
      const Point u = motion.field->at(from);
      const Point to{from.x + scale.factor * (u.x - field.mean.x),
                     from.y + scale.factor * (u.y - field.mean.y)};
      svg += arrow(from, to, colour_of(motion, window), line);
    }
  }
  return svg + "</svg>\n";
}

std::string field_arrows_words(const FrameMotion& motion) {
  const FieldSummary field = summary_of(motion);
  return fmt::format(
      "Deviation of the displacement from its mean of ({:.3f}, {:.3f}) pixels, drawn {:g} times as "
      "long; root mean square {:.3f}, at most {:.3f} pixels. Green: windows that are used; orange: "
      "{} outliers; gray: {} windows without a reliable shift.",
      field.mean.x, field.mean.y, scale_of(motion, field).factor, field.spread, field.largest,
      motion.count_outliers(),
      motion.shifts.size() - motion.count_used() - motion.count_outliers());
}

}  // namespace warpalign::program
