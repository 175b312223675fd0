// The control points of a deformation at all levels, and their optimisation.
#include "registration/deformation/control_grid.hpp"

#include "registration/deformation/control_points.hpp"
#include "registration/deformation/transfers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace warpalign::detail {

namespace {

// The largest eigenvalue of the bending energy: 16 along each axis, and 32 for each pair of axes.
constexpr double bending_bound(int axes) { return axes == 3 ? 144 : 64; }
// The smallest momentum, for control points default_grid_spacing pixels apart or more.
constexpr double min_momentum = 0.8;
constexpr int coarse_steps = 40;
constexpr int finest_steps = 25;
// The longest step, in distances of control points.
constexpr double longest_step = 0.4;
// Fields with a smaller determinant are relaxed.
constexpr float min_determinant = 0.2F;
// Determinants below and above these are counted.
constexpr float low_determinant = 0.3F;
constexpr float high_determinant = 3;
constexpr int max_relaxations = 100;

/// On a finer grid, a step carries what one point has found over fewer pixels, so momentum adds up
/// more steps.
float momentum_of(const DeformableLevel& finest) {
  double spacing = finest.spacing[0];
  for (std::size_t a = 1; a < (finest.reference.depth > 1 ? 3U : 2U); ++a) {
    spacing = std::max(spacing, finest.spacing[a]);
  }
  const double relative = std::min(spacing / default_grid_spacing, 1.0);
  return static_cast<float>(1 - (1 - min_momentum) * relative);
}

}  // namespace

ControlGrid::Level::Level(const Device& device, const DeformableLevel& level)
    : geometry(level),
      spec(level.grid_spec()),
      grid(device, spec),
      step(device, {level.grid}),
      point(device.make_image(PixelType::f32, spec.grids(spec.dimensions()))),
      next(device.make_image(PixelType::f32, spec.grids(spec.dimensions()))),
      coefficients(device.make_image(PixelType::f32, spec.grids(spec.dimensions()))),
      sums(device.make_image(PixelType::f32, spec.grids(spec.dimensions()))),
      inverse(device.make_image(PixelType::f32, spec.grids(spec.entries()))),
      marks(device.make_image(PixelType::f32, spec.grid)) {}

ControlGrid::ControlGrid(const Device& device, std::span<const DeformableLevel> levels,
                         double bending_weight)
    : bending_weight_(bending_weight) {
  levels_.reserve(levels.size());
  for (const DeformableLevel& level : levels) levels_.emplace_back(device, level);
}

void ControlGrid::compare_at(Stream& stream, StageClock& clock, ImageLevel& images,
                             const Level& level, const Image& coefficients) {
  clock.run("deformation_grid", [&] {
    const auto masks =
        images.masks
            ? std::optional<DeformationMasks>({images.masks->reference, images.masks->moving})
            : std::nullopt;
    level.grid.execute_warp(stream, coefficients, *images.moving, images.pose, images.samples,
                            masks ? &*masks : nullptr);
  });
  clock.run("local_correlation", [&] {
    images.correlation.execute_forces(stream, *images.reference, images.statistics, images.samples,
                                      static_cast<float>(images.moving_variance.floor),
                                      images.forces);
  });
}

void ControlGrid::compare(Stream& stream, StageClock& clock, ImageLevel& images,
                          std::size_t number) {
  compare_at(stream, clock, images, levels_[number], levels_[number].coefficients);
}

void ControlGrid::compare_undeformed(Stream& stream, StageClock& clock, ImageLevel& images,
                                     std::size_t number) {
  Level& level = levels_[number];
  const std::vector<float> none(level.next.size_bytes() / sizeof(float));
  upload(stream, none, level.next);
  compare_at(stream, clock, images, level, level.next);
}

std::vector<float> ControlGrid::curvatures(Stream& stream, StageClock& clock, ImageLevel& images,
                                           Level& level) {
  std::vector<float> sums;
  for (const auto entries : {CurvatureEntries::of_x, CurvatureEntries::others}) {
    // The forces are not computed yet; their memory has room for one part of the entries.
    clock.run("local_correlation", [&] {
      images.correlation.execute_curvatures(stream, *images.reference, images.statistics, entries,
                                            images.forces);
    });
    clock.run("deformation_grid", [&] {
      level.grid.execute_sums(stream, level.spec.dimensions(), images.forces, level.sums);
    });
    const std::vector<float> part = downloaded(stream, level.sums);
    sums.insert(sums.end(), part.begin(), part.end());
  }
  sums.resize(static_cast<std::size_t>(level.spec.grids(level.spec.entries()).pixels()));
  return sums;
}

DeformationStepFactors ControlGrid::step_factors(Stream& stream, StageClock& clock,
                                                 ImageLevel& images, Level& level) const {
  const DeformationGridSpec& spec = level.spec;
  const int axes = spec.dimensions();
  std::array<double, 3> factors{1, 1, 1};
  std::array<double, 3> bound{};
  DeformationStepFactors step;
  step.momentum = momentum_of(levels_.front().geometry);
  double cell = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) cell /= spec.axes[a].step;
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
    factors[a] = 1.0 / level.geometry.reference_factor[a];
    // In units of the grid, which is about cubic in space, so that no axis is preferred.
    const double spacing = spec.axes[a].spacing;
    const double weight = bending_weight_ * cell / (spacing * spacing);
    bound[a] = bending_bound(axes) * weight;
    step.force[a] = static_cast<float>(factors[a]);
    step.smoothness[a] = static_cast<float>(weight);
    step.limit[a] = static_cast<float>(longest_step * spacing);
  }
  upload(stream, inverse_curvatures(curvatures(stream, clock, images, level), axes, factors, bound),
         level.inverse);
  return step;
}

void ControlGrid::fit(Stream& stream, StageClock& clock, ImageLevel& images, std::size_t number,
                      FittedField& field) {
  Level& level = levels_[number];
  const int axes = level.spec.dimensions();
  if (field.coefficients.empty()) {
    field.coefficients.resize(static_cast<std::size_t>(level.spec.grids(axes).pixels()));
  } else {
    field.coefficients = refined_between(field.coefficients, levels_[number + 1].geometry,
                                         level.geometry, levels_.front().geometry.reference);
  }
  const DeformationStepFactors step = step_factors(stream, clock, images, level);
  upload(stream, field.coefficients, level.point);
  upload(stream, field.coefficients, level.coefficients);
  for (int i = 0; i < (number == 0 ? finest_steps : coarse_steps); ++i) {
    compare_at(stream, clock, images, level, level.point);
    clock.run("deformation_grid",
              [&] { level.grid.execute_sums(stream, axes, images.forces, level.sums); });
    clock.run("deformation_step", [&] {
      level.step.execute(stream, level.sums, level.inverse, step, level.point, level.coefficients,
                         level.next);
    });
    std::swap(level.point, level.next);
  }
  field.coefficients = downloaded(stream, level.coefficients);
  unfold(stream, clock, images, level, field);
}

DeterminantRange ControlGrid::determinants(Stream& stream, StageClock& clock, ImageLevel& images,
                                           const Level& level) {
  clock.run("deformation_grid", [&] {
    level.grid.execute_determinants(stream, level.coefficients, images.determinants);
    level.grid.execute_extremes(stream, images.determinants, low_determinant, high_determinant,
                                images.extremes);
  });
  const std::vector<float> rows = downloaded(stream, images.extremes);
  DeterminantRange range{rows[0], rows[1], 0};
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    range.least = std::min(range.least, static_cast<double>(rows[i]));
    range.most = std::max(range.most, static_cast<double>(rows[i + 1]));
    range.extreme += static_cast<double>(rows[i + 2]);
  }
  range.extreme /= static_cast<double>(level.spec.voxels.pixels());
  return range;
}

void ControlGrid::unfold(Stream& stream, StageClock& clock, ImageLevel& images, Level& level,
                         FittedField& field) {
  const std::vector<float> none(static_cast<std::size_t>(level.spec.grid.pixels()));
  for (int i = 0; i <= max_relaxations; ++i) {
    field.determinants = determinants(stream, clock, images, level);
    if (field.determinants.least >= min_determinant || i == max_relaxations) return;
    upload(stream, none, level.marks);
    clock.run("deformation_grid", [&] {
      level.grid.execute_marks(stream, images.determinants, min_determinant, level.marks);
    });
    relax(field.coefficients, level.spec, downloaded(stream, level.marks));
    upload(stream, field.coefficients, level.coefficients);
  }
}

}  // namespace warpalign::detail
