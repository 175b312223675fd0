// Builds the table from frame, slice and channel to a page of a TIFF stack.
#include "io/frames/tiff_axes.hpp"

#include "io/codecs/codecs.hpp"
#include "io/frames/imagej_axes.hpp"
#include "io/frames/ome_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace warpalign::program {
namespace {

TiffAxes plain_axes(std::size_t pages) {
  TiffAxes axes;
  axes.frames = pages;
  axes.pages.resize(pages);
  std::iota(axes.pages.begin(), axes.pages.end(), std::int64_t{0});
  return axes;
}

/// The chosen index along an axis, or 0 if the axis has length 1.
std::size_t chosen(const std::optional<int>& choice, std::size_t count, const char* option,
                   const char* what) {
  if (!choice && count > 1) {
    throw FileError(
        fmt::format("has {} {}; choose one with {} 0 to {}", count, what, option, count - 1));
  }
  const int index = choice.value_or(0);
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    throw FileError(count == 1 ? fmt::format("has one of its {}, so {} can only be 0", what, option)
                               : fmt::format("has {} {}, so {} can be 0 to {}", count, what, option,
                                             count - 1));
  }
  return static_cast<std::size_t>(index);
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
  return plain_axes(pages);
}

std::vector<std::int64_t> chosen_pages(const TiffAxes& axes, const PlaneChoice& choice) {
  const std::size_t channel = chosen(choice.channel, axes.channels, "--channel", "channels");
  const bool along_slices = axes.frames == 1 && axes.slices > 1 && !choice.slice;
  const std::size_t slice =
      along_slices ? 0 : chosen(choice.slice, axes.slices, "--z", "planes in z");
  std::vector<std::int64_t> pages;
  const std::size_t count = along_slices ? axes.slices : axes.frames;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = along_slices ? i : i * axes.slices + slice;
    const std::int64_t page = axes.pages[row * axes.channels + channel];
    if (page != TiffAxes::elsewhere) pages.push_back(page);
  }
  if (pages.empty()) throw FileError("has none of the chosen planes; name another file of its set");
  return pages;
}

}  // namespace warpalign::program
