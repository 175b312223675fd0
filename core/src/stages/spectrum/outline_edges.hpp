// The outlines of two images in the form of the kernels.
#pragma once

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>

namespace warpalign::detail {

/// Refuses, as `stage`, outlines that are not finite, or larger than any image.
[[nodiscard]] backend::OutlineEdges edges_of(const char* stage, const OverlapOutline& outline);

}  // namespace warpalign::detail
