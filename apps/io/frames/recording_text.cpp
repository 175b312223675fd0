// Writes ImageJ's and OME's descriptions of the axes of a TIFF stack.
#include "io/frames/recording_text.hpp"

#include "io/frames/ome_axes.hpp"
#include "io/frames/xml_tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

struct Counts {
  std::size_t frames;
  std::size_t slices;
  std::size_t channels;

  [[nodiscard]] std::size_t planes() const { return frames * slices * channels; }
};

Counts counts_of(const RecordingFormat& format, std::size_t frames) {
  if (format.frames_are_slices) return {1, frames, format.channels};
  return {frames, format.slices, format.channels};
}

/// Keeps the lines that do not count planes, such as unit, spacing and finterval.
std::string imagej_text(const RecordingFormat& format, const Counts& counts) {
  std::istringstream lines(format.description);
  std::string line;
  std::getline(lines, line);
  const std::size_t end = line.find('\0');
  std::string text = fmt::format("{}\nimages={}\n", line.substr(0, end), counts.planes());
  if (counts.channels > 1) text += fmt::format("channels={}\n", counts.channels);
  if (counts.slices > 1) text += fmt::format("slices={}\n", counts.slices);
  if (counts.frames > 1) text += fmt::format("frames={}\n", counts.frames);
  if (counts.planes() > 1) text += "hyperstack=true\n";
  constexpr std::array replaced{"images=", "channels=", "slices=", "frames=", "hyperstack="};
  while (std::getline(lines, line)) {
    line = line.substr(0, line.find('\0'));
    bool keep = line.find_first_not_of(" \r") != std::string::npos;
    for (const char* start : replaced) keep = keep && !line.starts_with(start);
    if (keep) text += line + '\n';
  }
  return text;
}

/// Replaces the value of an attribute in the text of a tag, or adds it.
void set_attribute(std::string& tag, std::string_view key, const std::string& value) {
  const std::string start = fmt::format(" {}=", key);
  std::size_t at = std::string::npos;
  for (const char blank : {' ', '\n', '\t', '\r'}) {
    std::string wanted = start;
    wanted.front() = blank;
    at = std::min(at, tag.find(wanted));
  }
  if (at == std::string::npos) {
    tag.insert(tag.size() - (tag.ends_with("/>") ? 2 : 1), fmt::format(" {}=\"{}\"", key, value));
    return;
  }
  const std::size_t open = tag.find_first_of("\"'", at);
  const std::size_t close = open == std::string::npos ? open : tag.find(tag[open], open + 1);
  if (close == std::string::npos) return;
  tag.replace(open + 1, close - open - 1, value);
}

/// Removes an attribute from the text of a tag.
void remove_attribute(std::string& tag, std::string_view key) {
  const std::size_t at = tag.find(fmt::format(" {}=", key));
  if (at == std::string::npos) return;
  const std::size_t open = tag.find_first_of("\"'", at);
  const std::size_t close = open == std::string::npos ? open : tag.find(tag[open], open + 1);
  if (close != std::string::npos) tag.erase(at, close + 1 - at);
}

/// Whether pages that follow each other by time, slice and channel have the order of the axes.
bool pages_are_in_order(const std::string& order, const Counts& counts) {
  const auto is_long = [&](char axis) {
    return (axis == 'T' ? counts.frames : axis == 'Z' ? counts.slices : counts.channels) > 1;
  };
  std::string present;
  std::ranges::copy_if(order, std::back_inserter(present), is_long);
  std::string written;
  std::ranges::copy_if(std::string_view("TZC"), std::back_inserter(written), is_long);
  return present == written;
}

/// Copies the first image of an OME description, with the new numbers of planes.
class OmeCopy {
 public:
  OmeCopy(const RecordingFormat& format, const Counts& counts)
      : format_(format), counts_(counts), xml_(format.description) {}

  [[nodiscard]] std::string text() {
    XmlTags tags(xml_);
    while (const std::optional<XmlTag> tag = tags.next()) {
      const std::string_view between = xml_.substr(copied_, tag->begin - copied_);
      if (!omitted()) text_ += between;
      copied_ = tag->end;
      take(*tag);
    }
    if (!omitted()) text_ += xml_.substr(copied_);
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool omitted() const { return !omitted_.empty(); }

  void take(const XmlTag& tag) {
    std::string text(xml_.substr(tag.begin, tag.end - tag.begin));
    const bool is_empty = text.ends_with("/>");
    if (omitted()) {
      if (tag.name == "/" + omitted_) omitted_.clear();
      return;
    }
    if (tag.name == "Image") ++images_;
    if (is_omitted(tag)) {
      if (!is_empty) omitted_ = tag.name;
      return;
    }
    if (tag.name == "OME") remove_attribute(text, "UUID");
    if (tag.name == "Pixels") set_numbers(text);
    // The schema wants TiffData after the channels and before the planes.
    const bool is_after_channels = images_ == 1 && has_pixels_ && !described_ &&
                                   (tag.name == "Plane" || tag.name == "/Pixels");
    if (is_after_channels) describe_pages();
    if (tag.name == "Pixels") {
      has_pixels_ = true;
      if (is_empty) {
        text = text.substr(0, text.size() - 2) + ">";
        text_ += text;
        describe_pages();
        text_ += fmt::format("</{}>", name_in(text));
        return;
      }
    }
    text_ += text;
  }

  /// The name of a tag with its namespace.
  static std::string name_in(const std::string& tag) {
    return tag.substr(1, tag.find_first_of(" \t\r\n/>", 1) - 1);
  }

  [[nodiscard]] bool is_omitted(const XmlTag& tag) {
    if (tag.name == "Image" && images_ > 1) return true;
    if (images_ != 1 || !has_pixels_) return false;
    if (tag.name == "TiffData" || tag.name == "MetadataOnly") return true;
    if (tag.name == "Channel" && !format_.describes_planes) return true;
    if (tag.name == "Channel" && format_.kept_channel) return channel_++ != *format_.kept_channel;
    if (tag.name != "Plane") return false;
    return !format_.describes_planes || !format_.has_all_planes || is_beyond(tag);
  }

  /// Whether a plane is of a frame that is not written, because the file was cut short.
  [[nodiscard]] bool is_beyond(const XmlTag& plane) const {
    const std::string key = format_.frames_are_slices ? "TheZ" : "TheT";
    const std::string frames =
        std::to_string(format_.frames_are_slices ? counts_.slices : counts_.frames);
    const std::string index = plane.attribute(key).value_or("0");
    return index.size() > frames.size() || (index.size() == frames.size() && index >= frames);
  }

  void set_numbers(std::string& pixels) const {
    set_attribute(pixels, "DimensionOrder",
                  "XY" + std::string(format_.order.rbegin(), format_.order.rend()));
    set_attribute(pixels, "BigEndian", "false");
    set_attribute(pixels, "SizeC",
                  std::to_string(counts_.channels * static_cast<std::size_t>(format_.samples)));
    set_attribute(pixels, "SizeZ", std::to_string(counts_.slices));
    set_attribute(pixels, "SizeT", std::to_string(counts_.frames));
  }

  void describe_pages() {
    described_ = true;
    if (pages_are_in_order(format_.order, counts_)) {
      text_ += fmt::format("<{}TiffData IFD=\"0\" PlaneCount=\"{}\"/>", prefix(), counts_.planes());
      return;
    }
    std::size_t page = 0;
    for (std::size_t t = 0; t < counts_.frames; ++t) {
      for (std::size_t z = 0; z < counts_.slices; ++z) {
        for (std::size_t c = 0; c < counts_.channels; ++c, ++page) {
          text_ += fmt::format(
              "<{}TiffData IFD=\"{}\" FirstT=\"{}\" FirstZ=\"{}\" FirstC=\"{}\" "
              "PlaneCount=\"1\"/>",
              prefix(), page, t, z, c);
        }
      }
    }
  }

  /// The namespace prefix of the description's elements, such as "OME:", or nothing.
  [[nodiscard]] std::string prefix() const {
    const std::size_t end = xml_.rfind("OME>");
    if (end == std::string_view::npos || end == 0 || xml_[end - 1] != ':') return {};
    const std::size_t start = xml_.rfind('/', end);
    if (start == std::string_view::npos) return {};
    return std::string(xml_.substr(start + 1, end - start - 1));
  }

  const RecordingFormat& format_;
  Counts counts_;
  std::string_view xml_;
  std::string text_;
  std::size_t copied_ = 0;
  std::string omitted_;  ///< the element that is being left out
  int images_ = 0;
  int channel_ = 0;
  bool has_pixels_ = false;
  bool described_ = false;
};

}  // namespace

namespace {

std::string new_ome_text(const RecordingFormat& format, const LoadedImage& plane) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\">"
      "<Image ID=\"Image:0\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"{}\" "
      "SizeX=\"{}\" SizeY=\"{}\" SizeC=\"1\" SizeZ=\"1\" SizeT=\"1\">",
      ome_type(plane.type), plane.width, plane.height);
  for (std::size_t c = 0; c < format.channels; ++c) {
    text += fmt::format("<Channel ID=\"Channel:0:{}\" SamplesPerPixel=\"{}\"/>", c, plane.channels);
  }
  return text + "</Pixels></Image></OME>";
}

}  // namespace

RecordingFormat with_description(RecordingFormat format, const LoadedImage& plane) {
  if (format.metadata != RecordingFormat::Metadata::none || format.planes() == 1) return format;
  const bool fits_imagej =
      plane.type == PixelType::u8 || plane.type == PixelType::u16 || plane.type == PixelType::f32;
  if (fits_imagej && plane.channels == 1) {
    format.metadata = RecordingFormat::Metadata::imagej;
    format.description = "ImageJ=1.54f\n";
    if (format.channels > 1) format.description += "mode=grayscale\n";
  } else if (ome_type(plane.type) != nullptr) {
    format.metadata = RecordingFormat::Metadata::ome;
    format.description = new_ome_text(format, plane);
  }
  return format;
}

std::string recording_text(const RecordingFormat& format, std::size_t frames) {
  const Counts counts = counts_of(format, frames);
  switch (format.metadata) {
    case RecordingFormat::Metadata::imagej:
      return imagej_text(format, counts);
    case RecordingFormat::Metadata::ome:
      return OmeCopy(format, counts).text();
    default:
      return {};
  }
}

std::string padded_text(const RecordingFormat& format, std::string text, std::size_t length) {
  if (text.size() >= length) return text;
  const std::string blanks(length - text.size(), '\n');
  if (format.metadata == RecordingFormat::Metadata::imagej) return text + blanks;
  const std::size_t last = text.rfind('<');
  return text.insert(last == std::string::npos ? text.size() : last, blanks);
}

}  // namespace warpalign::program
