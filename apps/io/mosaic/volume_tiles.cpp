// The volume tiles of a mosaic, read from their files when they are needed.
#include "io/mosaic/volume_tiles.hpp"

#include "io/array_file.hpp"
#include "io/checksum.hpp"
#include "io/frames/frame_sequence.hpp"
#include "io/mosaic/ome_positions.hpp"
#include "io/volume_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace warpalign::program {
namespace {

// The fewest planes of a volume that can be registered.
constexpr std::size_t min_tile_planes = 8;
// An array with fewer columns has channels there.
constexpr std::int64_t max_image_channels = 16;

/// The pages of a TIFF file, or the planes in z that its metadata describe.
Array load_tiff_planes(const std::string& name) {
  PlaneChoice choice;
  choice.whole_volumes = true;
  FrameSequence source({name}, choice);
  std::vector<LoadedImage> planes;
  std::size_t frames = 0;
  while (std::optional<Frame> frame = source.next()) {
    if (!frame->trouble.empty()) throw FileError(frame->trouble);
    ++frames;
    const RecordingFormat* format = source.recording();
    const bool is_series = frames > 1 && format != nullptr && format->slices > 1;
    if (is_series || (format != nullptr && format->channels > 1)) {
      throw FileError(fmt::format(
          "{}: has several {}; a tile is one volume of one channel: save it alone, or choose it in "
          "Python",
          name, is_series ? "points in time" : "channels"));
    }
    for (const LoadedImage& plane : frame->all_planes()) planes.push_back(plane);
  }
  if (!source.ended_early().empty()) throw FileError(source.ended_early());
  if (planes.empty()) throw FileError(fmt::format("{}: has no planes", name));
  const LoadedImage& first = planes.front();
  Array voxels =
      make_array({static_cast<std::int64_t>(planes.size()), first.height, first.width}, first.type);
  std::byte* to = voxels.bytes.data();
  for (const LoadedImage& plane : planes) {
    if (plane.shape() != first.shape() || plane.type != first.type || plane.channels != 1) {
      throw FileError(
          fmt::format("{}: its pages are not the planes of a volume: they have colours, or are of "
                      "several sizes or types",
                      name));
    }
    std::memcpy(to, plane.pixels.data(), plane.pixels.size());
    to += plane.pixels.size();
  }
  return voxels;
}

/// A volume with the spacing of its header.
std::pair<Array, std::optional<std::array<double, 3>>> load_tile(const std::string& name) {
  Array voxels;
  std::optional<std::array<double, 3>> spacing;
  if (is_volume_format(name)) {
    VolumeFile file = load_volume(name);
    voxels = std::move(file.voxels);
    spacing = file.spacing;
  } else {
    voxels = load_tiff_planes(name);
  }
  if (voxels.type == PixelType::c32) {
    throw FileError(fmt::format("{}: holds complex numbers; voxels must be real", name));
  }
  const PixelType type = voxels.type;
  if (type != PixelType::u8 && type != PixelType::u16 && type != PixelType::f32) {
    voxels = to_float(voxels);
  }
  return {std::move(voxels), spacing};
}

bool is_constant(const Array& voxels) {
  const std::size_t step = size_of(voxels.type);
  return voxels.bytes.size() <= step || std::memcmp(voxels.bytes.data(), voxels.bytes.data() + step,
                                                    voxels.bytes.size() - step) == 0;
}

}  // namespace

bool is_volume_format(const std::filesystem::path& path) {
  return is_nifti_name(path) || is_nifti_pair_name(path) || is_npy(path);
}

bool is_volume_tile(const std::filesystem::path& path) {
  try {
    if (!is_volume_format(path)) return count_pages(path) >= min_tile_planes;
    if (!is_npy(path)) return true;
    const Array array = load_npy(path);
    return array.dimensions() == 3 && array.extents[2] > max_image_channels;
  } catch (const FileError&) {
    return false;
  }
}

VolumeTiles::VolumeTiles(const std::filesystem::path& folder, std::vector<std::string> names)
    : folder_(folder), names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::error_code failed;
    if (std::filesystem::exists(path(i), failed)) continue;
    throw FileError(
        fmt::format("{}: does not exist; give the files relative to the folder", path(i)));
  }
  const auto [first, spacing] = load_tile(path(0));
  shape_ = first.shape();
  type_ = first.type;
  spacing_ = spacing;
}

Array VolumeTiles::load(std::size_t tile) const {
  Array voxels = load_tile(path(tile)).first;
  if (voxels.shape() == shape_ && voxels.type == type_) return voxels;
  throw FileError(
      fmt::format("{}: is {} of type {}, but {} is {} of type {}; the tiles of a mosaic must be of "
                  "one kind",
                  path(tile), to_string(voxels.shape()), name_of(voxels.type), path(0),
                  to_string(shape_), name_of(type_)));
}

void VolumeTiles::refuse_same(std::size_t tile, const Array& voxels) {
  constexpr std::size_t step = 32;  // rows between those that are compared first
  const std::size_t row = static_cast<std::size_t>(shape_.width) * size_of(type_);
  Checksum checksum;
  const std::span<const std::byte> bytes(voxels.bytes);
  for (std::size_t begin = 0; begin < bytes.size(); begin += step * row) {
    checksum.add(bytes.subspan(begin, row));
  }
  std::size_t other = tile;
  {
    const std::lock_guard lock(mutex_);
    other = tiles_by_checksum_.emplace(checksum.value(), tile).first->second;
  }
  if (other == tile || is_constant(voxels) || load(other).bytes != voxels.bytes) return;
  throw FileError(
      fmt::format("{}: is the same volume as {}; give each tile once", path(tile), path(other)));
}

TileVoxels VolumeTiles::read(std::size_t tile) {
  const auto voxels = std::make_shared<const Array>(load(tile));
  refuse_same(tile, *voxels);
  return {{voxels->bytes.data(), type_, shape_}, voxels};
}

}  // namespace warpalign::program
