// The drift of a stack as a plot.
#pragma once

#include "reports/stack_frame.hpp"
#include "reports/svg_plot.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace warpalign::program {

/// Plots translation, rotation and growth (the scale, in per cent) over the frames that are ok.
/// Long stacks are thinned out to every second, fourth, ... frame, so that memory does not grow
/// with them.
class DriftPlot {
 public:
  void add(const StackFrame& frame);
  /// As SVG.
  [[nodiscard]] std::string draw() const;

 private:
  struct Drift {
    std::size_t frame = 0;
    Similarity similarity;
  };
  template <typename Number>
  [[nodiscard]] PlotLine line(const std::string& label, std::size_t colour,
                              const Number& number) const;

  std::vector<Drift> drifts_;
  std::size_t step_ = 1;
};

}  // namespace warpalign::program
