// The axes that ImageJ and OME describe. The first two bytes are the number of pages and of
// samples per pixel, the rest is the description.
#include "io/frames/tiff_axes.hpp"
#include "io/image_file.hpp"
#include "reader.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

void check_choices(const TiffAxes& axes, const PlaneChoice& choice) {
  try {
    const FramePages frames = chosen_pages(axes, choice);
    require(frames.frames() > 0, "a choice gives frames or an error");
    require(frames.pages.size() == frames.frames() * frames.planes(), "frames have all planes");
    for (const std::int64_t page : frames.pages) {
      require(page >= 0 || page == TiffAxes::missing, "a chosen plane is a page, or missing");
    }
  } catch (const FileError&) {
  }
}

void run(Input input) {
  Reader reader(input);
  const std::size_t pages = reader.byte();
  const int samples = 1 + reader.byte() % 3;
  const std::string description = reader.text();
  TiffAxes axes;
  try {
    axes = read_tiff_axes(description, pages, samples, "input.ome.tif");
  } catch (const FileError&) {
    return;
  }
  require(axes.pages.size() == axes.frames * axes.slices * axes.channels,
          "there is a plane for each frame, slice and channel");
  check_choices(axes, {});
  check_choices(axes, {0, 0});
  check_choices(axes, {1, 2});
  check_choices(axes, {-1, {}});
}

const Registration registration("tiff_axes", run);

}  // namespace
}  // namespace warpalign::fuzz
