// Limits of the stages that correlate the overlaps of pairs.
#pragma once

#include <cstdint>

namespace warpalign {

/// The most pairs of a batch. Each has two surfaces, which are slices of one transform.
inline constexpr std::int64_t max_overlap_batch = 8192;

}  // namespace warpalign
