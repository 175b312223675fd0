// Reads recordings of whole volumes.
#include "commands/volume_recording.hpp"

#include "io/array_file.hpp"
#include "io/frames/input_files.hpp"
#include "io/frames/pixel_size.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace warpalign::program {
namespace {

// The fewest planes of a volume that can be registered.
constexpr std::size_t min_planes = 8;

PlaneChoice planes_read(const RegisteredBy& by) {
  PlaneChoice choice = by.planes();
  choice.whole_volumes = true;
  return choice;
}

/// The samples of all channels, added up with weights.
Array weighted_sum(const std::vector<Array>& channels, const std::vector<double>& weights) {
  Array sum = make_array(channels.front().extents, PixelType::f32);
  const auto to = sum.samples<float>();
  for (std::size_t c = 0; c < channels.size(); ++c) {
    if (weights[c] == 0) continue;
    const Array values = to_float(channels[c]);
    const auto from = values.samples<float>();
    const auto weight = static_cast<float>(weights[c]);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * from[i];
  }
  return sum;
}

SeriesGeometry geometry_of(const RecordingFormat& format) {
  SeriesGeometry geometry;
  const PixelSize size = pixel_size_of(format);
  const auto& [x, y, z] = size.um;
  geometry.unit = x && y && z ? "um" : "voxels";
  if (x && y && z) {
    geometry.spacing = {*x, *y, *z};
  } else if (x || y || z) {
    geometry.note =
        "the file does not tell the size of its voxels along all axes, so they count as cubes: "
        "give it with --spacing";
  }
  return geometry;
}

}  // namespace

VolumeRecording::VolumeRecording(std::vector<std::string> files, const RegisteredBy& by)
    : by_(by), source_(std::make_unique<FrameSequence>(std::move(files), planes_read(by))) {
  first_ = source_->next();
  std::string trouble;
  while (first_ && !first_->trouble.empty()) {  // reported when the volume's turn comes
    if (trouble.empty()) trouble = first_->trouble;
    first_ = source_->next();
  }
  if (!first_) {
    if (trouble.empty()) trouble = source_->ended_early();
    throw FileError(trouble.empty()
                        ? fmt::format("{}: contains no volumes", source_->files().front())
                        : trouble);
  }
  describe(*first_);
  if (trouble.empty()) return;
  source_ = std::make_unique<FrameSequence>(source_->files(), planes_read(by_));
  first_.reset();
}

void VolumeRecording::describe(const Frame& first) {
  const std::string& file = source_->files().front();
  if (const RecordingFormat* format = source_->recording()) format_ = *format;
  if (format_.slices < min_planes) {
    throw UsageError(fmt::format(
        "{}: its volumes have {} planes in z, and registration needs at least {}; register by a "
        "plane or a projection with --z",
        file, format_.slices, min_planes));
  }
  const LoadedImage& plane = first.all_planes().front();
  if (plane.channels != 1) {
    throw UsageError(fmt::format(
        "{}: its volumes have colours; register by a plane or a projection with --z", file));
  }
  RegisteredBy by = by_;
  by.slices = RegisteredBy::Slices::maximum;  // whole volumes need no choice of a plane
  const RegisteredImage checks(by, &format_, file);
  const bool chosen = by_.channel && !by_.only_channel;  // else the reader has left out the others
  channel_ = chosen ? static_cast<std::size_t>(*by_.channel) : 0;
  geometry_ = geometry_of(format_);
  geometry_.extents = {static_cast<std::int64_t>(format_.slices), plane.height, plane.width};
  stored_type_ = plane.type;
  geometry_.type = by_.weights.empty() ? plane.type : PixelType::f32;
}

std::size_t VolumeRecording::volumes() const {
  FrameSequence again(source_->files(), planes_read(by_));
  std::size_t frames = 0;
  while (again.skip()) ++frames;
  return frames;
}

void VolumeRecording::take_planes(std::vector<LoadedImage> planes, SeriesVolume& volume) const {
  const LoadedImage& first = planes.front();
  const std::size_t channels = format_.channels;
  std::vector<Array> found;
  for (std::size_t c = 0; c < channels; ++c) {
    Array array =
        make_array({static_cast<std::int64_t>(planes.size() / channels), first.height, first.width},
                   first.type);
    std::byte* to = array.bytes.data();
    for (std::size_t i = c; i < planes.size(); i += channels) {
      std::memcpy(to, planes[i].pixels.data(), planes[i].pixels.size());
      to += planes[i].pixels.size();
    }
    found.push_back(std::move(array));
  }
  if (!by_.weights.empty()) {
    volume.voxels = weighted_sum(found, by_.weights);
  } else if (channels > 1) {
    volume.voxels = found[channel_];
  } else {
    volume.voxels = std::move(found.front());
    return;
  }
  volume.channels = std::move(found);
}

SeriesVolume VolumeRecording::volume_of(Frame frame) {
  SeriesVolume volume{index_++, std::move(frame.name), {}, {}, std::move(frame.trouble)};
  if (!volume.trouble.empty()) return volume;
  if (frame.planes.empty()) frame.planes.push_back(std::move(frame.image));
  const LoadedImage& plane = frame.planes.front();
  const Array expected{geometry_.extents, geometry_.type, {}};
  const std::vector<std::int64_t> extents{static_cast<std::int64_t>(format_.slices), plane.height,
                                          plane.width};
  if (extents != geometry_.extents) {
    const Array found{extents, geometry_.type, {}};
    volume.trouble = fmt::format("{}: is {}, but the first volume is {}", volume.name,
                                 to_string(found.shape()), to_string(expected.shape()));
  } else if (plane.channels != 1 || plane.type != stored_type_) {
    volume.trouble =
        fmt::format("{}: has another type of voxels than the first volume", volume.name);
  } else {
    take_planes(std::move(frame.planes), volume);
  }
  return volume;
}

std::optional<SeriesVolume> VolumeRecording::next() {
  std::optional<Frame> frame = first_ ? std::exchange(first_, std::nullopt) : source_->next();
  if (!frame) return {};
  return volume_of(*std::move(frame));
}

void VolumeRecording::skip(std::size_t volumes) {
  for (; volumes > 0; --volumes, ++index_) {
    if (first_) {
      first_.reset();
    } else if (!source_->skip()) {
      return;
    }
  }
}

bool is_volume_recording(const StackOptions& options) {
  const bool asked = options.slice == "all";
  if (!asked && options.slice) return false;
  if (!asked && options.apply && !is_volume_drift(*options.apply)) return false;
  const RegisteredBy by = registered_by(options);
  try {
    const std::string file = input_files(options.files).front();
    if (is_pipe(file)) return asked;
    FrameSequence source({file}, planes_read(by));
    if (asked) {
      const std::optional<Frame> first = source.next();
      if (!first || !first->trouble.empty()) return true;  // VolumeRecording reports it
    } else if (!source.skip()) {
      return false;
    }
    const RecordingFormat* format = source.recording();
    const std::size_t planes = format == nullptr ? 1 : format->slices;
    if (!asked) return planes >= min_planes && source.count().frames > 1;
    if (planes > 1) return true;
    throw UsageError(
        fmt::format("--z all: registers whole volumes, and {} has one plane in z; omit it, or name "
                    "the axes with --axes",
                    file));
  } catch (const FileError&) {
    return asked;  // reported by what reads the files
  }
}

std::vector<LoadedImage> planes_of(std::span<const Array> channels) {
  std::vector<LoadedImage> planes;
  const Array& first = channels.front();
  const Shape shape = first.shape();
  const std::size_t bytes =
      static_cast<std::size_t>(shape.width * shape.height) * size_of(first.type);
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (const Array& channel : channels) {
      LoadedImage plane = make_image(shape.width, shape.height, 1, channel.type);
      std::memcpy(plane.pixels.data(), channel.bytes.data() + static_cast<std::size_t>(z) * bytes,
                  bytes);
      planes.push_back(std::move(plane));
    }
  }
  return planes;
}

}  // namespace warpalign::program
