// YUV4MPEG2 videos.
#include "frames.hpp"

namespace warpalign::fuzz {
namespace {

const Registration registration("video", read_frames);

}  // namespace
}  // namespace warpalign::fuzz
