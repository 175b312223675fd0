// The measures of a deformation as text and JSON.
#include "reports/deformation_report.hpp"

#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program {

Json deformation_json(const std::optional<Deformation>& deformation) {
  if (!deformation) return {};
  return Json::object({{"correlation_before", deformation->correlation_before},
                       {"correlation", deformation->correlation},
                       {"min_jacobian", deformation->min_jacobian},
                       {"max_jacobian", deformation->max_jacobian},
                       {"extreme_jacobians", deformation->extreme_jacobians}});
}

std::string deformation_line(const std::optional<Deformation>& deformation) {
  if (!deformation) return "";
  return report_line(
      "deformed", fmt::format("local correlation {:.3f}, before {:.3f}; Jacobian {:.2f} to {:.2f}",
                              deformation->correlation, deformation->correlation_before,
                              deformation->min_jacobian, deformation->max_jacobian));
}

void DeformationSummary::add(const Deformation& deformation) {
  sums_.correlation_before += deformation.correlation_before;
  sums_.correlation += deformation.correlation;
  sums_.min_jacobian = std::min(sums_.min_jacobian, deformation.min_jacobian);
  sums_.max_jacobian = std::max(sums_.max_jacobian, deformation.max_jacobian);
  ++count_;
}

std::optional<Deformation> DeformationSummary::overall() const {
  if (count_ == 0) return std::nullopt;
  Deformation overall = sums_;
  overall.correlation_before /= static_cast<double>(count_);
  overall.correlation /= static_cast<double>(count_);
  return overall;
}

}  // namespace warpalign::program
