// Reads a stack frame by frame.
#include "frames.hpp"

#include "io/frames/frame_sequence.hpp"
#include "io/messages.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

constexpr std::size_t enough_frames = 24;

void check(const Frame& frame) {
  require(!frame.name.empty(), "a frame has a name");
  if (!frame.trouble.empty()) return;
  for (const LoadedImage& image : frame.all_planes()) {
    require(image.width >= 1 && image.width <= max_side && image.height >= 1 &&
                image.height <= max_side,
            "a frame's sides are within the limits");
    require(image.pixels.size() == image.row_bytes() * static_cast<std::size_t>(image.height),
            "a frame has as many bytes as pixels");
  }
}

void read_all(const std::string& file, const PlaneChoice& choice) {
  FrameSequence frames({file}, choice);
  std::size_t read = 0;
  try {
    for (; read < enough_frames; ++read) {
      const std::optional<Frame> frame = frames.next();
      if (!frame) break;
      check(*frame);
    }
  } catch (const FileError&) {
    return;
  }
  const FrameCount count = frames.count();
  require(!count.exact || read == enough_frames || read <= count.frames,
          "there are no more frames than were counted");
}

/// Skips all frames. Their number must be that of the frames that are read.
void skip_all(const std::string& file) {
  FrameSequence frames({file}, {});
  try {
    for (std::size_t i = 0; i < enough_frames && frames.skip(); ++i) {
    }
    (void)frames.next();
  } catch (const FileError&) {
    return;
  }
}

}  // namespace

void read_frames(Input input) {
  set_verbosity(Verbosity::quiet);  // remarks are kept, to print each of them once
  const std::string file = as_file(input).string();
  read_all(file, {});
  read_all(file, {0, 0});
  read_all(file, {1, {}});
  for (const char* axes : {"TYX", "ZCYX", "YXT", "SCYTXZ"}) read_all(file, {{}, {}, axes});
  skip_all(file);
}

}  // namespace warpalign::fuzz
