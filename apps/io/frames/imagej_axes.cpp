// Parses the axes of a stack that ImageJ has written: lines such as "images=120", "channels=2",
// "slices=3" and "frames=20". Channels vary fastest, then slices, then frames. Above 4 GB ImageJ
// writes a single directory, followed by all images without gaps.
#include "io/frames/imagej_axes.hpp"

#include "io/codecs/codecs.hpp"
#include "io/frames/tiff_directories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::size_t max_imagej_channels = 7;

std::map<std::string, std::size_t> numbers_in(const std::string& description) {
  std::map<std::string, std::size_t> numbers;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::size_t value = 0;
    const char* end = line.data() + line.size();
    const auto [stop, failed] = std::from_chars(line.data() + equals + 1, end, value);
    if (failed != std::errc{} || value < 1 || value > max_pages) continue;
    numbers[line.substr(0, equals)] = value;
  }
  return numbers;
}

}  // namespace

bool is_imagej(const std::string& description) { return description.starts_with("ImageJ="); }

std::optional<TiffAxes> imagej_axes(const std::string& description, std::size_t pages,
                                    std::size_t max_planes) {
  auto numbers = numbers_in(description);
  const auto number = [&](const char* name) { return std::max<std::size_t>(numbers[name], 1); };
  const std::size_t images = number("images");
  TiffAxes axes;
  axes.channels = number("channels");
  axes.slices = number("slices");
  axes.frames = number("frames");
  if (axes.channels * axes.slices > max_pages / axes.frames) return {};
  if (axes.channels * axes.slices * axes.frames != images) {
    axes.channels = axes.slices = 1;
    axes.frames = images;
  }
  // tifffile writes an array without labels as so many channels.
  if (axes.frames == 1 && axes.slices == 1 && axes.channels > max_imagej_channels) {
    axes.remark = fmt::format(
        "its {0} channels are read as {0} frames, because ImageJ has at most {1} channels; give "
        "--axes CYX if they are channels",
        axes.channels, max_imagej_channels);
    std::swap(axes.frames, axes.channels);
    axes.order = "CZT";
  }
  if (pages == 1 && images > 1) axes.contiguous = images;
  if (pages > images) return {};  // another program added pages without updating the text
  if (images > max_planes) {
    throw damaged(fmt::format("it says that it has {} images, and has {} pages", images, pages));
  }
  axes.pages.resize(images);
  std::iota(axes.pages.begin(), axes.pages.end(), std::int64_t{0});
  return axes;
}

}  // namespace warpalign::program
