// Stacks in .npy files, in either order of axes.
#include "frames.hpp"

namespace warpalign::fuzz {
namespace {

const Registration registration("npy_stack", read_frames);

}  // namespace
}  // namespace warpalign::fuzz
