// Builds the table from frame, slice and channel to a page of a TIFF stack.
#include "io/frames/tiff_axes.hpp"

#include "io/codecs/codecs.hpp"
#include "io/frames/axis_letters.hpp"
#include "io/frames/imagej_axes.hpp"
#include "io/frames/ome_axes.hpp"
#include "io/frames/tiff_directories.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

namespace warpalign::program {
namespace {

TiffAxes plain_axes(std::size_t pages) {
  TiffAxes axes;
  axes.frames = pages;
  axes.pages.resize(pages);
  std::iota(axes.pages.begin(), axes.pages.end(), std::int64_t{0});
  return axes;
}

/// The extents in a description of tifffile, {"shape": [5, 3, 300, 400]}, without those of a page.
/// Empty if there is no such description, or if it does not fit the pages.
std::vector<std::size_t> tifffile_shape(std::string_view description, std::size_t pages,
                                        int samples_of_page) {
  constexpr std::string_view start = "{\"shape\": [";
  if (!description.starts_with(start)) return {};
  std::string_view rest = description.substr(start.size());
  std::vector<std::size_t> shape;
  while (true) {
    std::size_t extent = 0;
    const auto [stop, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (failed != std::errc{} || extent < 1 || extent > max_pages) return {};
    shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    if (rest.starts_with(']')) break;
    if (!rest.starts_with(", ")) return {};
    rest.remove_prefix(2);
  }
  const std::size_t of_page = samples_of_page > 1 ? 3 : 2;
  if (shape.size() <= of_page) return {};
  shape.resize(shape.size() - of_page);
  std::size_t planes = 1;
  for (const std::size_t extent : shape) {
    if (planes > pages / extent) return {};
    planes *= extent;
  }
  if (planes != pages) return {};
  return shape;
}

/// The letters in a description of tifffile, {"shape": [5, 2, 300, 400], "axes": "TCYX"}. Empty if
/// there are none, or if they do not name `axes` axes of pages, rows and columns as --axes does.
std::string tifffile_letters(std::string_view description, std::size_t axes, int samples_of_page) {
  const std::string_view of_page = samples_of_page > 1 ? "YXS" : "YX";
  constexpr std::string_view key = "\"axes\": \"";
  const std::size_t start = description.find(key);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = description.substr(start + key.size());
  std::string letters(rest.substr(0, rest.find('"')));
  const bool fits = letters.size() == axes + of_page.size() && letters.ends_with(of_page);
  return fits && are_axis_letters(letters) ? letters : std::string();
}

/// The range of indices that are read along an axis.
struct AxisRange {
  std::size_t first = 0;
  std::size_t count = 1;
};

AxisRange chosen(const std::optional<int>& choice, std::size_t count, const char* option,
                 const char* what) {
  if (!choice) return {0, count};
  if (*choice < 0 || static_cast<std::size_t>(*choice) >= count) {
    throw FileError(count == 1 ? fmt::format("has one of its {}, so {} can only be 0", what, option)
                               : fmt::format("has {} {}, so {} can be 0 to {}", count, what, option,
                                             count - 1));
  }
  return {static_cast<std::size_t>(*choice), 1};
}

/// The most planes that a description may claim. Without this limit a few bytes of text could claim
/// millions of planes, each of which would be reported as missing. The limit allows for truncated
/// files and for sets of files, whose planes the text lists.
std::size_t max_planes(const std::string& description, std::size_t pages, std::size_t room) {
  constexpr std::size_t harmless = std::size_t{1} << 16;
  constexpr std::size_t planes_a_page = 1024;
  return std::max({harmless, planes_a_page * std::max(pages, room), description.size()});
}

}  // namespace

TiffAxes read_tiff_axes(const std::string& description, std::size_t pages, int samples_of_page,
                        const std::string& file_name, std::size_t room) {
  const std::size_t planes = max_planes(description, pages, room);
  if (is_imagej(description)) {
    return imagej_axes(description, pages, planes).value_or(plain_axes(pages));
  }
  if (is_ome(description)) return ome_axes(description, samples_of_page, file_name, planes);
  TiffAxes axes = plain_axes(pages);
  axes.shape = tifffile_shape(description, pages, samples_of_page);
  if (axes.shape.empty()) return axes;
  axes.letters = tifffile_letters(description, axes.shape.size(), samples_of_page);
  const auto long_axes = std::ranges::count_if(axes.shape, [](std::size_t n) { return n > 1; });
  if (axes.letters.empty() && long_axes > 1) {
    axes.remark = fmt::format(
        "its {} pages are an array of {} x pages, and each page is read as a frame; give --axes, "
        "as in TCYX, if one axis is not time",
        pages, fmt::join(axes.shape, " x "));
  }
  return axes;
}

FramePages chosen_pages(const TiffAxes& axes, const PlaneChoice& choice) {
  const AxisRange channels = chosen(choice.channel, axes.channels, "--channel", "channels");
  AxisRange slices = chosen(choice.slice, axes.slices, "--z", "planes in z");
  FramePages found;
  found.frames_are_slices = axes.frames == 1 && slices.count > 1 && !choice.whole_volumes;
  found.has_all_planes = channels.count == axes.channels && slices.count == axes.slices;
  const std::size_t frames = found.frames_are_slices ? slices.count : axes.frames;
  if (found.frames_are_slices) slices.count = 1;
  found.channels = channels.count;
  found.slices = slices.count;
  std::vector<std::int64_t> frame;
  for (std::size_t i = 0; i < frames; ++i) {
    const std::size_t first = (found.frames_are_slices ? i : i * axes.slices) + slices.first;
    frame.clear();
    for (std::size_t z = first; z < first + slices.count; ++z) {
      for (std::size_t c = channels.first; c < channels.first + channels.count; ++c) {
        frame.push_back(axes.pages[z * axes.channels + c]);
      }
    }
    const auto elsewhere = std::count(frame.begin(), frame.end(), TiffAxes::elsewhere);
    if (elsewhere == static_cast<std::ptrdiff_t>(frame.size())) continue;
    if (elsewhere > 0) {
      throw FileError(
          "is one file of an OME-TIFF set, and the other planes of its frames are in other files; "
          "save the set as one file, or read one channel with --only-channel or one plane with "
          "--only-z");
    }
    found.pages.insert(found.pages.end(), frame.begin(), frame.end());
  }
  if (found.pages.empty()) {
    throw FileError("has none of the chosen planes; name another file of its set");
  }
  return found;
}

}  // namespace warpalign::program
