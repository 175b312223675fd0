// The name of locate_tiles() in errors.
#pragma once

namespace warpalign::detail {

inline constexpr const char* mosaic_stage = "locate_tiles";

}  // namespace warpalign::detail
