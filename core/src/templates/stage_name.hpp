// The name that errors of templates carry.
#pragma once

namespace warpalign::detail {

inline constexpr const char* template_stage = "build_template";

}  // namespace warpalign::detail
