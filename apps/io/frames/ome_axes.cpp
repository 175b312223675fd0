// Parses the axes of an OME-TIFF stack. The element Pixels gives the sizes and the axis that varies
// fastest; its TiffData elements give the page and the file of each plane.
#include "io/frames/ome_axes.hpp"

#include "io/codecs/codecs.hpp"
#include "io/frames/xml_tags.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <numeric>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::size_t max_number = std::size_t{1} << 24;

FileError contradictory(const std::string& why) {
  return FileError(fmt::format("has an invalid OME description ({}); export it again", why));
}

/// The integer value of an attribute, or nothing if it is missing.
std::optional<std::size_t> number(const XmlTag& tag, const std::string& name) {
  const std::optional<std::string> text = tag.attribute(name);
  if (!text) return {};
  std::size_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, failed] = std::from_chars(text->data(), end, value);
  if (failed != std::errc{} || stop != end || value > max_number) {
    throw contradictory(fmt::format("{} is '{}'", name, *text));
  }
  return value;
}

/// One of the axes z, c and t.
struct Axis {
  char letter;
  std::size_t size = 1;
  std::size_t stride = 1;  ///< in the order of the planes
};

class Planes {
 public:
  Planes(const XmlTag& tag, int samples_of_page) {
    const std::string order = tag.attribute("DimensionOrder").value_or("XYZCT");
    if (order.size() != 5 || !order.starts_with("XY")) {
      throw contradictory(fmt::format("DimensionOrder is '{}'", order));
    }
    order_ = {order.rbegin(), order.rend() - 2};
    std::size_t stride = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      Axis& axis = axis_of(order[i + 2]);
      axis.size = number(tag, fmt::format("Size{}", axis.letter)).value_or(1);
      // The colours of a page count as channels.
      if (axis.letter == 'C' && axis.size % static_cast<std::size_t>(samples_of_page) == 0) {
        axis.size /= static_cast<std::size_t>(samples_of_page);
      }
      if (axis.size < 1 || stride > max_number / axis.size) {
        throw contradictory(fmt::format("Size{} is {}", axis.letter, axis.size));
      }
      axis.stride = stride;
      stride *= axis.size;
    }
    count_ = stride;
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  /// The axes, the slowest first.
  [[nodiscard]] const std::string& order() const { return order_; }
  /// The index of a plane in the order of the planes.
  [[nodiscard]] std::size_t at(std::size_t t, std::size_t z, std::size_t c) const {
    const std::size_t plane = t * axis('T').stride + z * axis('Z').stride + c * axis('C').stride;
    if (t >= axis('T').size || z >= axis('Z').size || c >= axis('C').size) {
      throw contradictory("a plane lies beyond the sizes");
    }
    return plane;
  }
  [[nodiscard]] const Axis& axis(char letter) const {
    return const_cast<Planes*>(this)->axis_of(letter);
  }

 private:
  Axis& axis_of(char letter) {
    for (Axis& axis : axes_) {
      if (axis.letter == letter) return axis;
    }
    throw contradictory(fmt::format("DimensionOrder has '{}'", letter));
  }

  std::array<Axis, 3> axes_{Axis{'Z'}, Axis{'C'}, Axis{'T'}};
  std::size_t count_ = 1;
  std::string order_;
};

/// The page of each plane, as given by the TiffData elements.
class PageTable {
 public:
  PageTable(const Planes& planes, std::string file_name)
      : planes_(planes),
        file_name_(std::move(file_name)),
        table_(planes.count(), TiffAxes::missing) {}

  /// `file`: the file name in the element, if there is one.
  void take(const XmlTag& data, const std::optional<std::string>& file) {
    const std::optional<std::size_t> page = number(data, "IFD");
    const std::size_t start =
        planes_.at(number(data, "FirstT").value_or(0), number(data, "FirstZ").value_or(0),
                   number(data, "FirstC").value_or(0));
    const std::size_t count =
        number(data, "PlaneCount").value_or(page ? 1 : planes_.count() - start);
    if (count > planes_.count() - start) throw contradictory("PlaneCount goes beyond the sizes");
    // Otherwise a short text could fill a large table over and over.
    taken_ += count;
    if (taken_ > max_number) throw contradictory("TiffData describes more than 2^24 planes");
    const bool here = !file || *file == file_name_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = page.value_or(0) + i;
      table_[start + i] = here ? static_cast<std::int64_t>(at) : TiffAxes::elsewhere;
    }
    described_ = true;
  }

  /// Without TiffData, the pages are the planes in order.
  std::vector<std::int64_t> table() && {
    if (!described_) std::iota(table_.begin(), table_.end(), std::int64_t{0});
    return std::move(table_);
  }

 private:
  const Planes& planes_;
  std::string file_name_;
  std::vector<std::int64_t> table_;
  std::size_t taken_ = 0;  ///< number of planes described so far
  bool described_ = false;
};

/// The element Pixels of the first image and its child elements.
std::vector<std::int64_t> page_table(XmlTags& tags, const Planes& planes,
                                     const std::string& file_name) {
  PageTable table(planes, file_name);
  std::optional<XmlTag> data;
  std::optional<std::string> file;
  const auto finish = [&] {
    if (data) table.take(*data, file);
    data.reset();
    file.reset();
  };
  while (const std::optional<XmlTag> tag = tags.next()) {
    if (tag->name == "/Pixels") break;
    if (tag->name == "TiffData") {
      finish();
      data = tag;
    }
    if (tag->name == "UUID" && data) file = tag->attribute("FileName");
  }
  finish();
  return std::move(table).table();
}

}  // namespace

bool is_ome(const std::string& description) {
  const std::size_t end = description.find_last_not_of(" \t\r\n");
  return end != std::string::npos && description.substr(0, end + 1).ends_with("OME>");
}

const char* ome_type(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return "uint8";
    case PixelType::i8:
      return "int8";
    case PixelType::u16:
      return "uint16";
    case PixelType::i16:
      return "int16";
    case PixelType::u32:
      return "uint32";
    case PixelType::i32:
      return "int32";
    case PixelType::f32:
      return "float";
    case PixelType::f64:
      return "double";
    default:
      return nullptr;
  }
}

TiffAxes ome_axes(const std::string& xml, int samples_of_page, const std::string& file_name,
                  std::size_t max_planes) {
  XmlTags tags(xml);
  while (const std::optional<XmlTag> tag = tags.next()) {
    if (tag->name == "BinaryOnly") {
      throw FileError(fmt::format(
          "is one file of an OME-TIFF set, and its axes are described in {}; save the set "
          "as one file",
          tag->attribute("MetadataFile").value_or("another file")));
    }
    if (tag->name != "Pixels") continue;
    const Planes planes(*tag, samples_of_page);
    if (planes.count() > max_planes) {
      throw contradictory(
          fmt::format("it claims {} planes, which the file cannot hold", planes.count()));
    }
    const std::vector<std::int64_t> table = page_table(tags, planes, file_name);
    TiffAxes axes;
    axes.frames = planes.axis('T').size;
    axes.slices = planes.axis('Z').size;
    axes.channels = planes.axis('C').size;
    axes.order = planes.order();
    for (std::size_t t = 0; t < axes.frames; ++t) {
      for (std::size_t z = 0; z < axes.slices; ++z) {
        for (std::size_t c = 0; c < axes.channels; ++c) {
          axes.pages.push_back(table[planes.at(t, z, c)]);
        }
      }
    }
    return axes;
  }
  throw contradictory("it has no element Pixels");
}

}  // namespace warpalign::program
