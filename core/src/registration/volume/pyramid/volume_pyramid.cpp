// The pyramid of a volume. Each level halves the axes with the smallest spacing first, so that
// voxels become nearly cubic.
#include "registration/volume/pyramid/volume_pyramid.hpp"

#include "registration/volume/geometry/valid_voxels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr double coarsest = 32;        // voxels along the largest extent, at most
constexpr std::int64_t min_side = 24;  // shorter sides are not halved

Shape shape_of(const std::array<std::int64_t, 3>& sides) { return {sides[0], sides[1], sides[2]}; }

// The next level of a grid, for a spacing of about `spacing` along each axis. Voxel i of the new
// grid is the mean of voxels 2 i and 2 i + 1. If the side is odd, the last voxel is dropped.
VolumeGrid halved(const VolumeGrid& grid, double spacing) {
  VolumeGrid next = grid;
  auto sides = grid.sides();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool nearer_doubled = grid.spacing[axis] * std::sqrt(2.0) < spacing;
    if (!nearer_doubled || sides[axis] < min_side) continue;
    next.centre[axis] -= static_cast<double>(sides[axis] % 2) * grid.spacing[axis] / 2;
    next.spacing[axis] *= 2;
    sides[axis] /= 2;
  }
  next.shape = shape_of(sides);
  return next;
}

// Halves by linear interpolation midway between two voxels, which is their mean.
HomogeneousMatrix halving(const VolumeGrid& fine, const VolumeGrid& coarse) {
  const auto factor = [&](std::size_t axis) {
    return coarse.spacing[axis] > fine.spacing[axis] ? 2.0 : 1.0;
  };
  const double x = factor(0), y = factor(1), z = factor(2);
  return HomogeneousMatrix::affine3(
      {x, 0, 0, (x - 1) / 2, 0, y, 0, (y - 1) / 2, 0, 0, z, (z - 1) / 2});
}

InterpolateSpec unfiltered(const Shape& image, const Shape& output, int degree) {
  InterpolateSpec spec;
  spec.images.shape = image;
  spec.output = output;
  spec.images.dimensions = 3;
  spec.spline.degree = degree;
  spec.spline.prefilter = std::nullopt;
  return spec;
}

}  // namespace

PyramidGrids pyramid_grids(const VolumeGrid& reference, const VolumeGrid& moving) {
  PyramidGrids grids{{reference}, {moving}};
  double spacing = reference.spacing[0];
  for (const VolumeGrid* grid : {&reference, &moving}) {
    for (const double s : grid->spacing) spacing = std::min(spacing, s);
  }
  const double extent = std::max(reference.largest_extent(), moving.largest_extent());
  while (extent / spacing > coarsest) {
    spacing *= 2;
    const VolumeGrid next_reference = halved(grids.reference.back(), spacing);
    const VolumeGrid next_moving = halved(grids.moving.back(), spacing);
    if (next_reference.shape == grids.reference.back().shape &&
        next_moving.shape == grids.moving.back().shape) {
      continue;
    }
    grids.reference.push_back(next_reference);
    grids.moving.push_back(next_moving);
  }
  return grids;
}

VolumePyramid::VolumePyramid(const Device& device, const std::vector<VolumeGrid>& grids,
                             Smoothing smoothing, bool marked) {
  for (std::size_t i = 1; i < grids.size(); ++i) {
    const Shape& shape = grids[i].shape;
    Level level{halving(grids[i - 1], grids[i]),
                Device(device).make_image(PixelType::f32, shape),
                {},
                {},
                {},
                {},
                {}};
    if (smoothing == Smoothing::cubic) {
      level.smoothed.emplace(Device(device).make_image(PixelType::f32, shape));
    }
    if (marked) {
      prepare_marked(device, grids[i - 1], level);
    } else {
      prepare(device, grids[i - 1], level);
    }
    levels_.push_back(std::move(level));
  }
  if (!marked) return;
  for (const VolumeGrid& grid : grids) {
    statistics_.emplace_back(device, StatisticsSpec{grid.shape, PixelType::f32});
  }
  record_.emplace(Device(device).make_buffer(sizeof(StatisticsRecord)));
}

void VolumePyramid::prepare(const Device& device, const VolumeGrid& fine, Level& level) {
  const Shape& shape = level.values.shape();
  level.halve.emplace(device, unfiltered(fine.shape, shape, 1));
  if (level.smoothed) level.smooth.emplace(device, unfiltered(shape, shape, 3));
}

void VolumePyramid::prepare_marked(const Device& device, const VolumeGrid& fine, Level& level) {
  const auto fine_sides = fine.sides();
  const Shape& shape = level.values.shape();
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  HalveVolumeSpec spec{fine.shape, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) spec.halved[axis] = sides[axis] < fine_sides[axis];
  level.halve_marked.emplace(device, spec);
  if (level.smoothed) level.smooth_marked.emplace(device, SmoothVolumeSpec{shape});
}

void VolumePyramid::take(Stream& stream, StageClock& clock, const Image& values,
                         const Image* smoothed) {
  values_ = &values;
  smoothed_ = smoothed;
  const Image* finer = values_;
  for (Level& level : levels_) {
    take_level(stream, clock, *finer, level);
    finer = &level.values;
  }
}

void VolumePyramid::take_level(Stream& stream, StageClock& clock, const Image& finer,
                               Level& level) {
  clock.run("halve", [&] {
    if (level.halve) level.halve->execute(stream, finer, level.transform, level.values);
    if (level.halve_marked) level.halve_marked->execute(stream, finer, level.values);
  });
  if (!level.smoothed) return;
  clock.run("smooth", [&] {
    if (level.smooth)
      level.smooth->execute(stream, level.values, HomogeneousMatrix{}, *level.smoothed);
    if (level.smooth_marked) level.smooth_marked->execute(stream, level.values, *level.smoothed);
  });
}

double VolumePyramid::valid(Stream& stream, StageClock& clock, std::size_t level) {
  const Image& image = smoothed_ != nullptr ? smoothed(level) : values(level);
  return valid_voxels(image.shape(), measured(stream, clock, statistics_[level], image, *record_));
}

}  // namespace warpalign::detail
