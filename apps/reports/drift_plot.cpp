// The drift of a stack as a plot.
#include "reports/drift_plot.hpp"

#include <fmt/format.h>

namespace warpalign::program {
namespace {

constexpr std::size_t max_points = 8192;

}  // namespace

void DriftPlot::add(const StackFrame& frame) {
  if (!frame.trouble.empty() || !frame.place.reliable || frame.index % step_ != 0) return;
  drifts_.push_back({frame.index, frame.place.similarity});
  if (drifts_.size() < max_points) return;
  step_ *= 2;
  std::erase_if(drifts_, [&](const Drift& drift) { return drift.frame % step_ != 0; });
}

template <typename Number>
PlotLine DriftPlot::line(const std::string& label, std::size_t colour, const Number& number) const {
  PlotLine line{label, plot_colour(colour), {}};
  for (const Drift& drift : drifts_) {
    line.points.push_back({static_cast<double>(drift.frame), number(drift.similarity)});
  }
  return line;
}

std::string DriftPlot::draw() const {
  const std::string frames =
      step_ == 1 ? "frame" : fmt::format("frame (one in {} is drawn)", step_);
  Plot shift{"Translation from frame 0", frames, "pixels", {}};
  shift.lines.push_back(line("x", 0, [](const Similarity& drift) { return drift.translation.x; }));
  shift.lines.push_back(line("y", 1, [](const Similarity& drift) { return drift.translation.y; }));
  Plot rotation{"Rotation from frame 0", frames, "degrees", {}};
  rotation.lines.push_back(line("", 2, [](const Similarity& drift) { return drift.rotation_deg; }));
  Plot growth{"Growth from frame 0", frames, "per cent", {}};
  growth.lines.push_back(
      line("", 3, [](const Similarity& drift) { return 100 * (drift.scale - 1); }));
  return draw_plots({shift, rotation, growth});
}

}  // namespace warpalign::program
