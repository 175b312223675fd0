// TIFF and BigTIFF with many pages.
#include "frames.hpp"

namespace warpalign::fuzz {
namespace {

const Registration registration("tiff_stack", read_frames);

}  // namespace
}  // namespace warpalign::fuzz
