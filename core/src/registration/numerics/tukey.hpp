// Tukey's biweight, of which kernels_cl/formulas/similarity.h has the weights.
#pragma once

namespace warpalign::detail {

/// The scale of the weights, in standard deviations of the residuals, for 95 % efficiency where
/// these are normally distributed.
inline constexpr double tukey_constant = 4.685;

}  // namespace warpalign::detail
