// Converts voxels to the normalized values that are registered.
#include "registration/volume/pyramid/volume_source.hpp"

#include "registration/volume/geometry/valid_voxels.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::detail {

namespace {

// The limits of value ranges that can be normalized in single precision.
constexpr double max_range = 1e37;
constexpr double min_range = 1e-30;
// As a fraction of the largest value. Smaller differences are due to rounding.
constexpr double min_variation = 1e-6;
// The minimum number of unmasked voxels after smoothing: as many as the smallest volume has.
constexpr double min_valid = 512;
constexpr std::int64_t max_overview_side = 128;

[[noreturn]] void refuse_voxels(const char* what, const std::string& why) {
  throw Error(ErrorKind::invalid_image, std::string(what) + " " + why);
}

VolumeLevels levels_of(const StatisticsRecord& record, const char* what) {
  const auto minimum = static_cast<double>(record.minimum);
  const auto maximum = static_cast<double>(record.maximum);
  const double range = maximum - minimum;
  if (range > max_range) refuse_voxels(what, "spans more than 1e37; scale its values down");
  if (!(range > min_range) ||
      range <= min_variation * std::max(std::abs(minimum), std::abs(maximum))) {
    refuse_voxels(what, "is constant: it has no contrast to register");
  }
  return {record.mean, static_cast<float>(1 / range)};
}

void check_left(double valid, const char* what) {
  if (valid >= min_valid) return;
  const auto left = std::to_string(static_cast<long long>(valid));
  refuse_voxels(what, "has a mask, or missing voxels, that leaves " + left +
                          " voxels whose neighbours count too; at least " +
                          std::to_string(static_cast<long long>(min_valid)) + " are needed");
}

[[noreturn]] void refuse_edges(const char* what) {
  refuse_voxels(what,
                "has about the same gradient everywhere: it has no edges, which registration to "
                "another modality needs");
}

// The gradient magnitude at which the edge strength is one half: the mean magnitude over the
// volume, which is the edge parameter of Haber & Modersitzki 2006 without an estimate of the noise.
// `lengths` are the gradient magnitudes of values with a range of 1, so magnitudes below
// min_variation are due to rounding.
float edge_parameter(const StatisticsRecord& lengths, const char* what) {
  if (!(static_cast<double>(lengths.maximum) > min_variation)) refuse_edges(what);
  return std::max(lengths.mean, static_cast<float>(min_variation));
}

VolumeLevels levels_of_strengths(const StatisticsRecord& strengths, const char* what) {
  const double range =
      static_cast<double>(strengths.maximum) - static_cast<double>(strengths.minimum);
  if (!(range > min_variation)) refuse_edges(what);
  return {strengths.mean, static_cast<float>(1 / range)};
}

// The spacing in units of its smallest component, which is safe in single precision. Edge strengths
// do not depend on the unit.
Point3 relative(const Point3& spacing) {
  const double least = std::min({spacing.x, spacing.y, spacing.z});
  return {spacing.x / least, spacing.y / least, spacing.z / least};
}

InterpolateSpec smoothing(const Shape& shape) {
  InterpolateSpec spec;
  spec.images.shape = spec.output = shape;
  spec.images.dimensions = 3;
  spec.spline.prefilter = std::nullopt;
  return spec;
}

}  // namespace

VolumeSource::VolumeSource(const Device& device, PixelType type, const Shape& shape,
                           Modality modality, const Point3& spacing, bool masked,
                           bool keeps_overview)
    : device_(device),
      type_(type),
      shape_(shape),
      statistics_(device, {shape, masked ? PixelType::f32 : type}),
      normalize_(device, {masked ? PixelType::f32 : type, shape, shape, 0}),
      values_(device.make_image(PixelType::f32, shape)),
      smoothed_(device.make_image(PixelType::f32, shape)),
      record_(device.make_buffer(sizeof(StatisticsRecord))),
      keeps_overview_(keeps_overview),
      grid_{shape, {spacing.x, spacing.y, spacing.z}, {}} {
  if (masked) {
    masking_.emplace(Masking{Device(device).make_image(PixelType::u8, shape),
                             MarkVolumePlan(device, {PixelType::u8, shape}),
                             MarkVolumePlan(device, {type, shape}),
                             SmoothVolumePlan(device, {shape})});
  } else {
    smooth_.emplace(device, smoothing(shape));
  }
  if (modality == Modality::same) return;
  edges_.emplace(Edges{VolumeEdgesPlan(device, {shape, relative(spacing)}),
                       StatisticsPlan(device, {shape, PixelType::f32}),
                       PadVolumePlan(device, {PixelType::f32, shape, shape, 0})});
}

void VolumeSource::set_mask(Stream& stream, StageClock& clock, const HostVolume& mask) {
  clock.run("upload", [&] {
    stream.upload(mask.data, masking_->mask.size_bytes(), masking_->mask.buffer());
  });
}

void VolumeSource::set_mask(Stream& stream, StageClock& clock, const Image& mask) {
  clock.run("copy", [&] { stream.copy(mask.buffer(), masking_->mask.buffer()); });
}

void VolumeSource::set_whole_mask(Stream& stream, StageClock& clock) {
  const std::vector<std::uint8_t> all(static_cast<std::size_t>(shape_.pixels()), 1);
  set_mask(stream, clock, HostVolume{all.data(), PixelType::u8, shape_});
}

bool VolumeSource::take(Stream& stream, StageClock& clock, const HostVolume& voxels,
                        const char* what) {
  if (!voxels_) voxels_ = device_.make_image(type_, shape_);
  clock.run("upload",
            [&] { stream.upload(voxels.data, voxels_->size_bytes(), voxels_->buffer()); });
  return take(stream, clock, *voxels_, what);
}

bool VolumeSource::take(Stream& stream, StageClock& clock, const Image& voxels, const char* what) {
  const StatisticsRecord record = measure_voxels(stream, clock, voxels, what);
  if (missing_ > 0 && !masking_) return false;
  const VolumeLevels levels = levels_of(record, what);
  const Image& source = masking_ ? smoothed_ : voxels;
  clock.run("pad_volume", [&] { normalize_.execute(stream, source, levels, values_); });
  overview_taken_ = false;
  if (edges_ && keeps_overview_) take_overview(stream, clock);
  smooth(stream, clock, what);
  if (edges_) replace_by_edges(stream, clock, what);
  return true;
}

// With a mask, leaves the marked voxels in smoothed_.
StatisticsRecord VolumeSource::measure_voxels(Stream& stream, StageClock& clock,
                                              const Image& voxels, const char* what) {
  valid_ = static_cast<double>(shape_.pixels());
  if (!masking_) {
    const StatisticsRecord record = measured(stream, clock, statistics_, voxels, record_);
    missing_ = static_cast<std::int64_t>(record.nonfinite);
    return record;
  }
  const Image& mask = masking_->mask;
  clock.run("mark_volume", [&] { masking_->mark_mask.execute(stream, mask, mask, values_); });
  const StatisticsRecord marks = measured(stream, clock, statistics_, values_, record_);
  if (!(valid_voxels(shape_, marks) > 0)) {
    refuse_voxels(what, "has a mask that leaves no voxel to register");
  }
  clock.run("mark_volume", [&] { masking_->mark.execute(stream, voxels, mask, smoothed_); });
  const StatisticsRecord record = measured(stream, clock, statistics_, smoothed_, record_);
  missing_ = static_cast<std::int64_t>(record.nonfinite - marks.nonfinite);
  valid_ = valid_voxels(shape_, record);
  if (!(valid_ > 0)) {
    refuse_voxels(what, "has no voxel to register: all are NaN, infinite or masked");
  }
  return record;
}

void VolumeSource::smooth(Stream& stream, StageClock& clock, const char* what) {
  valid_smoothed_ = valid_;
  if (smooth_) {
    clock.run("smooth", [&] { smooth_->execute(stream, values_, HomogeneousMatrix{}, smoothed_); });
    return;
  }
  clock.run("smooth", [&] { masking_->smooth.execute(stream, values_, smoothed_); });
  valid_smoothed_ = valid_voxels(shape_, measured(stream, clock, statistics_, smoothed_, record_));
  check_left(valid_smoothed_, what);
}

void VolumeSource::take_overview(Stream& stream, StageClock& clock) {
  const std::vector<VolumeGrid> grids = pyramid_grids(grid_, grid_).reference;
  std::size_t level = 0;
  const auto side = [](const VolumeGrid& grid) {
    return std::max({grid.shape.width, grid.shape.height, grid.shape.depth});
  };
  while (level + 1 < grids.size() && side(grids[level]) > max_overview_side) ++level;
  if (!overview_levels_) {
    const auto last = grids.begin() + static_cast<std::ptrdiff_t>(level) + 1;
    overview_levels_.emplace(device_, std::vector<VolumeGrid>(grids.begin(), last),
                             VolumePyramid::Smoothing::none, masked());
  }
  overview_levels_->take(stream, clock, values_, nullptr);
  overview_.grid = grids[level];
  overview_.values.resize(static_cast<std::size_t>(grids[level].shape.pixels()));
  const Image& image = overview_levels_->values(level);
  clock.run("download",
            [&] { stream.download(image, overview_.values.data(), image.size_bytes()); });
  overview_taken_ = true;
}

const OverviewVolume& VolumeSource::overview(Stream& stream, StageClock& clock) {
  if (!overview_taken_) take_overview(stream, clock);
  return overview_;
}

// Computes the gradient magnitudes twice, first for their mean, because storing them would take
// more memory.
void VolumeSource::replace_by_edges(Stream& stream, StageClock& clock, const char* what) {
  const auto strengths_by = [&](const EdgeCurve& curve) {
    clock.run("volume_edges",
              [&] { edges_->strengths.execute(stream, smoothed_, curve, values_); });
    return measured(stream, clock, edges_->statistics, values_, record_);
  };
  const StatisticsRecord lengths = strengths_by({});
  valid_ = valid_voxels(shape_, lengths);
  if (masking_) check_left(valid_, what);
  const float epsilon = edge_parameter(lengths, what);
  const VolumeLevels levels =
      levels_of_strengths(strengths_by(EdgeCurve::up_to_one(epsilon)), what);
  clock.run("pad_volume", [&] { edges_->normalize.execute(stream, values_, levels, smoothed_); });
  std::swap(values_, smoothed_);
  smooth(stream, clock, what);
}

}  // namespace warpalign::detail
