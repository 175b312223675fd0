// The result for one frame of a stack.
#pragma once

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <optional>

namespace warpalign::program {

/// What a frame is registered to.
enum class StackReference {
  first,
  previous,  ///< the last frame before it that was registered reliably
  mean       ///< the mean of the frames before it that were, on the first frame's grid
};

/// "first", "previous" or "mean".
[[nodiscard]] const char* name_of(StackReference reference);

/// Where a frame lies: `matrix` and `similarity` map from the first frame; everything else
/// describes the registration to `reference`.
struct FramePlace : Registered {
  bool reliable = false;
  std::optional<std::size_t> reference;  ///< its index; none for the first frame and for a mean
};

}  // namespace warpalign::program
