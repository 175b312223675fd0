// The measures of a deformation as text and JSON.
#pragma once

#include "reports/json.hpp"

#include <warpalign/deformation.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace warpalign::program {

/// Null without a deformation.
[[nodiscard]] Json deformation_json(const std::optional<Deformation>& deformation);
/// A line of the report; empty without a deformation.
[[nodiscard]] std::string deformation_line(const std::optional<Deformation>& deformation);

/// The mean correlations of several deformations, and their least and greatest determinants.
class DeformationSummary {
 public:
  void add(const Deformation& deformation);
  /// Without a transform; empty if there is no deformation.
  [[nodiscard]] std::optional<Deformation> overall() const;

 private:
  Deformation sums_;
  std::size_t count_ = 0;
};

}  // namespace warpalign::program
