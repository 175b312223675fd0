// Aligns the frames of a stack by displacement fields that an earlier run has written.
#include "commands/known_fields.hpp"

#include "commands/positions_map.hpp"
#include "io/image_file.hpp"
#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

namespace warpalign::program {
namespace {

const PlaneChoice& axes_of_fields() {
  static const PlaneChoice choice = [] {
    PlaneChoice fields;
    fields.axes = "TCYX";
    return fields;
  }();
  return choice;
}

/// Of displacements along x, then y, of which none is NaN: their mean, and the root mean square
/// distance from it.
FrameAlignment alignment_of_field(const std::vector<float>& field) {
  const std::size_t pixels = field.size() / 2;
  const auto count = static_cast<double>(pixels);
  Point mean;
  for (std::size_t i = 0; i < pixels; ++i) {
    mean.x += static_cast<double>(field[i]) / count;
    mean.y += static_cast<double>(field[pixels + i]) / count;
  }
  double sum = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    sum += std::pow(static_cast<double>(field[i]) - mean.x, 2) +
           std::pow(static_cast<double>(field[pixels + i]) - mean.y, 2);
  }
  FrameAlignment place;
  place.matrix = Affine::translation(mean.x, mean.y);
  place.homography = place.matrix;
  place.similarity = {0, 1, mean};
  place.confidence = place.correlation = place.overlap = 1;
  place.refined = place.reliable = true;
  place.spread = std::sqrt(sum / count);
  return place;
}

}  // namespace

bool holds_fields(const std::string& name) {
  if (name == "-" || !is_npy_name(name) || !is_npy(name)) return false;
  std::ifstream file(name, std::ios::binary);
  std::string header(4096, '\0');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  const std::size_t shape = header.find("'shape'");
  const std::size_t end = header.find(')', shape);
  if (shape == std::string::npos || end == std::string::npos) return false;
  const auto first = header.begin() + static_cast<std::ptrdiff_t>(shape);
  const auto last = header.begin() + static_cast<std::ptrdiff_t>(end);
  // Four numbers, of which the last may have a comma behind it.
  return std::count(first, last, ',') >= 3 && std::count(first, last, ':') == 1;
}

FieldFrames::FieldFrames(const std::string& name, const Shape& frame) : name_(name), shape_(frame) {
  frames_ = std::make_unique<NpyFrames>(name, axes_of_fields());
  const std::optional<Frame> first = frames_->next();
  next_ = 1;
  const auto refuse = [&](const std::string& why) {
    throw FileError(fmt::format("{}: {}", name, why));
  };
  if (!first) refuse("holds no fields");
  const auto planes = first->all_planes();
  if (planes.size() != 2 || planes[0].channels != 1 || planes[0].type != PixelType::f32) {
    refuse("is no array of fields: float32 of the shape (frames, 2, rows, columns)");
  }
  if (planes[0].shape() != frame) {
    refuse(fmt::format("holds fields of {}, and the frames are {}", to_string(planes[0].shape()),
                       to_string(frame)));
  }
}

const std::vector<float>& FieldFrames::at(std::size_t index) {
  if (index_ == index) return field_;
  if (index < next_) {
    frames_ = std::make_unique<NpyFrames>(name_, axes_of_fields());
    next_ = 0;
  }
  while (next_ < index && frames_->skip()) ++next_;
  const std::optional<Frame> frame = frames_->next();
  if (!frame || !frame->trouble.empty()) {
    throw FileError(fmt::format("{}: its field of frame {} cannot be read", name_, index));
  }
  ++next_;
  index_ = index;
  field_.clear();
  for (const LoadedImage& plane : frame->all_planes()) {
    const auto values = plane.samples<float>();
    field_.insert(field_.end(), values.begin(), values.end());
  }
  const bool aligned =
      std::ranges::all_of(field_, [](float value) { return std::isfinite(value); });
  if (!aligned) field_.clear();
  return field_;
}

KnownFields::KnownFields(const Device& device, const std::string& name, const Shape& frame,
                         std::optional<double> nodata)
    : fields_(name, frame),
      sampler_(device, {frame.height, frame.width}),
      shape_(frame),
      nodata_(nodata) {}

FrameAlignment KnownFields::place(const LoadedImage& /*frame*/, std::size_t index) {
  const std::vector<float>& field = fields_.at(index);
  return field.empty() ? FrameAlignment{} : alignment_of_field(field);
}

std::unique_ptr<GridMap> KnownFields::map_of(const LoadedImage& /*frame*/,
                                             const FrameAlignment& /*place*/, std::size_t index) {
  std::vector<float> positions = fields_.at(index);
  const std::size_t pixels = positions.size() / 2;
  for (std::size_t i = 0; i < pixels; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    positions[i] += static_cast<float>(at % shape_.width);
    positions[pixels + i] += static_cast<float>(at / shape_.width);
  }
  return std::make_unique<PositionsMap>(
      Positions({shape_.height, shape_.width}, std::move(positions)), shape_.width, sampler_,
      nodata_);
}

}  // namespace warpalign::program
