// The measures of a deformation as text and JSON.
#include "reports/deformation_report.hpp"

#include "reports/report_lines.hpp"

#include <fmt/format.h>

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

}  // namespace warpalign::program
