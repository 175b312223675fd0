// The report of a stack as one HTML page.
#pragma once

#include "reports/drift_plot.hpp"
#include "reports/frame_motion.hpp"
#include "reports/mean_pictures.hpp"
#include "reports/stack_report.hpp"

#include <string>
#include <vector>

namespace warpalign::program {

/// Collects data for the page, in memory that does not grow with the number of frames.
class StackPage {
 public:
  void add(const StackFrame& frame);
  /// The whole page. `widest`: the local motion with the largest spread, or null.
  [[nodiscard]] std::string html(const StackSetting& setting, const StackTotals& totals,
                                 const DriftPlot& drift, const MeanPictures& means,
                                 const FrameMotion* widest) const;

 private:
  [[nodiscard]] std::string extremes(const DriftOrigin& origin) const;
  [[nodiscard]] std::string bad_frames(const StackTotals& totals) const;

  Similarity largest_;  ///< the largest absolute value of each number
  std::vector<StackFrame> bad_;
};

}  // namespace warpalign::program
