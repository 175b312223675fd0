// The axes of an array as the user names them with --axes.
#include "io/frames/axis_letters.hpp"

#include "io/image_file.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace warpalign::program {
namespace {

constexpr std::string_view known_letters = "TCZYXS";

std::vector<std::size_t> without_ones(const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> rest;
  std::ranges::copy_if(shape, std::back_inserter(rest), [](std::size_t n) { return n != 1; });
  return rest;
}

/// Names axes of these extents, or those that are longer than 1, or nothing if neither fit.
std::optional<NamedExtents> fitted(const std::string& letters,
                                   const std::vector<std::size_t>& extents) {
  if (letters.size() == extents.size()) return NamedExtents{letters, extents};
  const std::vector<std::size_t> rest = without_ones(extents);
  if (letters.size() == rest.size()) return NamedExtents{letters, rest};
  return {};
}

/// Why letters name no axes, or an empty text.
std::string trouble_with_letters(const std::string& letters) {
  for (const char letter : letters) {
    if (known_letters.find(letter) == std::string_view::npos) {
      return fmt::format("'{}' is no axis", letter);
    }
    if (std::ranges::count(letters, letter) > 1) return fmt::format("{} appears twice", letter);
  }
  if (letters.find('Y') == std::string::npos || letters.find('X') == std::string::npos) {
    return "Y and X are needed";
  }
  return {};
}

/// The extents of the pages' axes in the order in which the file has them.
std::vector<std::size_t> stored_extents(const TiffAxes& axes) {
  if (!axes.shape.empty()) return axes.shape;
  std::vector<std::size_t> extents;
  for (const char letter : axes.order) {
    extents.push_back(letter == 'T' ? axes.frames : letter == 'Z' ? axes.slices : axes.channels);
  }
  return extents;
}

/// The pages in the order of the file's axes, the first varying slowest.
std::vector<std::int64_t> pages_as_stored(const TiffAxes& axes) {
  if (!axes.shape.empty() || axes.order == "TZC") return axes.pages;
  const std::vector<std::size_t> extents = stored_extents(axes);
  std::vector<std::int64_t> pages;
  for (std::size_t i = 0; i < axes.pages.size(); ++i) {
    std::size_t rest = i;
    std::size_t t = 0;
    std::size_t z = 0;
    std::size_t c = 0;
    for (std::size_t axis = extents.size(); axis-- > 0; rest /= extents[axis]) {
      const std::size_t at = rest % extents[axis];
      (axes.order[axis] == 'T' ? t : axes.order[axis] == 'Z' ? z : c) = at;
    }
    pages.push_back(axes.pages[(t * axes.slices + z) * axes.channels + c]);
  }
  return pages;
}

}  // namespace

void check_axis_letters(const std::string& letters) {
  const std::string why = trouble_with_letters(letters);
  if (why.empty()) return;
  throw UsageError(fmt::format(
      "--axes {}: {}; name the axes, the slowest first, by T (time), C (channel), Z (slice), Y "
      "(row), X (column) and S (colour), as in TCYX",
      letters, why));
}

bool are_axis_letters(const std::string& letters) { return trouble_with_letters(letters).empty(); }

std::size_t NamedExtents::extent(char letter) const {
  const std::size_t at = letters.find(letter);
  return at == std::string::npos ? 1 : extents[at];
}

NamedExtents name_extents(const std::string& letters, const std::vector<std::size_t>& shape) {
  if (const std::optional<NamedExtents> named = fitted(letters, shape)) return *named;
  throw FileError(fmt::format(
      "has the shape ({}), {} axes, but --axes {} names {}; give a letter for each axis",
      fmt::join(shape, ", "), shape.size(), letters, letters.size()));
}

TiffAxes rename_axes(const TiffAxes& axes, const std::string& letters, std::size_t width,
                     std::size_t height, std::size_t samples) {
  std::string leading = letters;
  std::erase(leading, 'S');
  const bool fits = leading.ends_with("YX") && (leading.size() < letters.size()) == (samples > 1);
  leading.resize(leading.size() - 2);
  const std::vector<std::size_t> stored = stored_extents(axes);
  const std::optional<NamedExtents> named = fitted(leading, stored);
  if (!fits || !named) {
    std::vector<std::size_t> shape = without_ones(stored);
    shape.insert(shape.end(), {height, width});
    if (samples > 1) shape.push_back(samples);
    throw FileError(fmt::format(
        "has the shape ({}), which --axes {} does not fit; give a letter for each axis, {} at the "
        "end",
        fmt::join(shape, ", "), letters, samples > 1 ? "YXS" : "YX"));
  }
  TiffAxes renamed;
  renamed.frames = named->extent('T');
  renamed.slices = named->extent('Z');
  renamed.channels = named->extent('C');
  renamed.contiguous = axes.contiguous;
  const std::vector<std::int64_t> pages = pages_as_stored(axes);
  for (std::size_t t = 0; t < renamed.frames; ++t) {
    for (std::size_t z = 0; z < renamed.slices; ++z) {
      for (std::size_t c = 0; c < renamed.channels; ++c) {
        std::size_t page = 0;
        for (std::size_t axis = 0; axis < leading.size(); ++axis) {
          const char letter = leading[axis];
          page = page * named->extents[axis] + (letter == 'T' ? t : letter == 'Z' ? z : c);
        }
        renamed.pages.push_back(pages[page]);
      }
    }
  }
  return renamed;
}

}  // namespace warpalign::program
