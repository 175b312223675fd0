// The two volumes of a registration, the moving one with its axes in the order of the reference's.
#include "commands/volume_sides.hpp"

#include "io/nodata_mask.hpp"
#include "io/usage_error.hpp"
#include "options/number_list.hpp"

#include "transform_files/matrices.hpp"

#include <warpalign/missing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign::program {
namespace {

/// A mask that excludes nothing.
Array all_marked(const std::vector<std::int64_t>& extents) {
  Array mask = make_array(extents, PixelType::u8);
  std::ranges::fill(mask.samples<std::uint8_t>(), std::uint8_t{1});
  return mask;
}

}  // namespace

VolumeSide load_side(const std::string& name, const std::optional<std::string>& mask,
                     std::optional<std::int64_t> volume, std::optional<double> nodata) {
  VolumeSide side;
  side.file = load_volume(name, volume);
  if (mask) side.mask = load_volume_mask(*mask, side.file);
  if (nodata) {
    const Array& voxels = side.file.voxels;
    check_nodata(*nodata, voxels.type);
    const HostVolume view{voxels.bytes.data(), voxels.type, voxels.shape()};
    const KnownSamples samples = known_samples(view, *nodata);
    if (samples.missing > 0) {
      if (!side.mask) side.mask = all_marked(voxels.extents);
      side.missing = exclude_unknown(samples.known, name, side.mask->samples<std::uint8_t>());
    }
  }
  return side;
}

void reorder_like(const VolumeSide& reference, VolumeSide& moving) {
  VolumeFile& file = moving.file;
  if (!reference.file.index_to_world || !file.index_to_world) return;
  moving.order = nearest_axes(*file.index_to_world, *reference.file.index_to_world);
  if (moving.order.is_identity()) return;
  moving.stored_indices = stored_indices(moving.order, file.voxels.shape());
  file.voxels = reordered(file.voxels, moving.order);
  if (moving.mask) *moving.mask = reordered(*moving.mask, moving.order);
  if (file.spacing) file.spacing = reordered(*file.spacing, moving.order);
  file.index_to_world = transform_files::product(*file.index_to_world, moving.stored_indices);
}

VolumeNumbers volume_numbers_of(const std::optional<std::string>& text,
                                const std::string& reference, const std::string& moving) {
  VolumeNumbers numbers;
  if (!text) return numbers;
  const std::vector<double> values = parse_numbers("--volume", *text);
  for (const double value : values) {
    if (value >= 0 && value <= 1e9 && value == std::floor(value)) continue;
    throw UsageError(fmt::format("--volume {}: must be a number from 0 on", *text));
  }
  if (values.size() == 2) {
    numbers.reference = static_cast<std::int64_t>(values[0]);
    numbers.moving = static_cast<std::int64_t>(values[1]);
    return numbers;
  }
  if (values.size() != 1) {
    throw UsageError(
        fmt::format("--volume {}: must be a number, or two: of REFERENCE and of MOVING", *text));
  }
  const auto number = static_cast<std::int64_t>(values[0]);
  if (count_volumes(reference) > 1) numbers.reference = number;
  if (count_volumes(moving) > 1) numbers.moving = number;
  if (!numbers.reference && !numbers.moving) numbers.reference = numbers.moving = number;
  return numbers;
}

}  // namespace warpalign::program
