// Aligns the volumes of a series by transforms that an earlier run has found.
#include "commands/known_volumes.hpp"

#include "io/usage_error.hpp"

#include "transform_files/matrices.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

namespace warpalign::program {
namespace {

bool is_part(double first, std::int64_t part, std::int64_t whole) {
  return first >= 0 && first + static_cast<double>(part) <= static_cast<double>(whole);
}

void check_registered_shape(const KnownDriftChoice& choice, const VolumeDriftFile& drift,
                            const Shape& shape) {
  if (!drift.shape) {
    if (!choice.crop) return;
    throw UsageError(fmt::format(
        "--apply {}: does not tell the size of the volumes that were registered, which --crop-at "
        "needs; use the JSON of that run",
        choice.file));
  }
  if (!choice.crop) {
    if (*drift.shape == shape) return;
    throw UsageError(fmt::format(
        "--apply {}: holds transforms of volumes of {}, and these are {}; say by --crop-at where "
        "they lie in those",
        choice.file, to_string(*drift.shape), to_string(shape)));
  }
  const auto& [x, y, z] = *choice.crop;
  if (is_part(x, shape.width, drift.shape->width) &&
      is_part(y, shape.height, drift.shape->height) &&
      is_part(z, shape.depth, drift.shape->depth)) {
    return;
  }
  throw UsageError(fmt::format(
      "--crop-at {},{},{}: volumes of {} from there do not lie within those of {} that were "
      "registered",
      x, y, z, to_string(shape), to_string(*drift.shape)));
}

HomogeneousMatrix shift_by(const Point3& shift) {
  HomogeneousMatrix matrix;
  matrix.m[3] = shift.x;
  matrix.m[7] = shift.y;
  matrix.m[11] = shift.z;
  return matrix;
}

}  // namespace

KnownVolumes known_volumes(const KnownDriftChoice& choice, const VolumeDriftFile& drift,
                           const Shape& shape, const std::array<double, 3>& spacing) {
  check_registered_shape(choice, drift, shape);
  const Point3 crop = choice.crop.value_or(Point3{});
  KnownVolumes known{drift.motion, {}};
  for (const KnownVolume& volume : drift.volumes) {
    SeriesRow row;
    row.status = volume.usable && volume.reliable ? "ok" : "unreliable";
    if (volume.usable) {
      VolumeRegistration& found = row.found;
      found.matrix = volume.matrix;
      if (choice.crop) {
        found.matrix =
            transform_files::product(shift_by({-crop.x, -crop.y, -crop.z}),
                                     transform_files::product(volume.matrix, shift_by(crop)));
      }
      set_rotation(found, {spacing[0], spacing[1], spacing[2]});
      found.reliable = volume.reliable;
      found.confidence = volume.confidence;
      found.correlation = volume.correlation;
      found.overlap = volume.overlap;
    }
    known.rows.push_back(std::move(row));
  }
  return known;
}

}  // namespace warpalign::program
