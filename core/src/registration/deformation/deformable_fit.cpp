// Fits a free-form deformation between two images or volumes, on the device.
#include "registration/deformation/deformable_fit.hpp"

#include "registration/deformation/control_points.hpp"
#include "registration/deformation/known_levels.hpp"
#include "registration/deformation/noise_floor.hpp"
#include "registration/deformation/structure_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace warpalign::detail {

namespace {

constexpr int window_radius = LocalCorrelationSpec::radius;
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
float momentum_of(double grid_spacing) {
  const double relative = std::min(grid_spacing / default_grid_spacing, 1.0);
  return static_cast<float>(1 - (1 - min_momentum) * relative);
}

/// The longest side of images, or of volumes, whose correlations are judged.
constexpr std::int64_t largest_judged_side(int axes) { return axes == 3 ? 64 : 256; }

std::int64_t longest_side(const Shape& shape) {
  return std::max({shape.width, shape.height, shape.depth});
}

std::vector<float> downloaded(Stream& stream, const Image& image) {
  std::vector<float> values(image.size_bytes() / sizeof(float));
  stream.download(image, values.data(), image.size_bytes());
  return values;
}

void upload(Stream& stream, std::span<const float> values, Image& image) {
  stream.upload(values.data(), values.size_bytes(), image.buffer());
}

LocalCorrelationSpec window_spec(const Shape& shape, IntensityRelation relation) {
  return {shape, relation == IntensityRelation::any};
}

/// The pose of execute_warp(): from the pixels of a level of the reference, displaced in full
/// pixels, to the pixels of the level of the moving image.
std::array<float, 15> pose_of(const DeformableLevel& level, const HomogeneousMatrix& affine) {
  std::array<float, 15> pose{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double factor = level.moving_factor[row];
    double offset = affine.m[4 * row + 3] - (factor - 1) / 2;
    for (std::size_t column = 0; column < 3; ++column) {
      const double entry = affine.m[4 * row + column];
      pose[4 * row + column] = static_cast<float>(entry / factor);
      offset += entry * (level.reference_factor[column] - 1) / 2.0;
    }
    pose[4 * row + 3] = static_cast<float>(offset / factor);
    pose[12 + row] = static_cast<float>(level.reference_factor[row]);
  }
  return pose;
}

/// Halves the axes that differ from the finer level.
HalveVolumeSpec halving(const Shape& fine, const Shape& coarse) {
  return {fine,
          {coarse.width < fine.width, coarse.height < fine.height, coarse.depth < fine.depth}};
}

}  // namespace

// Memory for the optimisation of one level.
struct DeformableFit::Work {
  Work(const Device& device, const DeformationGridSpec& spec)
      : components(spec.dimensions()),
        pose(device.make_image(PixelType::f32, {15, 1, 1})),
        point(device.make_image(PixelType::f32, spec.grids(components))),
        next(device.make_image(PixelType::f32, spec.grids(components))),
        coefficients(device.make_image(PixelType::f32, spec.grids(components))),
        sums(device.make_image(PixelType::f32, spec.grids(components))),
        inverse(device.make_image(PixelType::f32, spec.grids(spec.entries()))),
        samples(device.make_image(PixelType::f32, spec.volumes(2))),
        statistics(device.make_image(PixelType::f32, spec.volumes(2))),
        forces(device.make_image(PixelType::f32, spec.volumes(components))),
        determinants(device.make_image(PixelType::f32, spec.voxels)),
        extremes(device.make_image(PixelType::f32, spec.extremes())),
        marks(device.make_image(PixelType::f32, spec.grid)),
        reference_noise(device.make_image(PixelType::f32, NoiseSampling(spec.voxels).samples())),
        moving_noise(device.make_image(PixelType::f32, NoiseSampling(spec.moving).samples())) {}

  int components;
  Image pose, point, next, coefficients, sums, inverse, samples, statistics, forces;
  Image determinants, extremes, marks, reference_noise, moving_noise;
};

DeformableFit::Level::Level(const Device& device, const DeformableLevel& geometry,
                            IntensityRelation relation)
    : level(geometry),
      spec(geometry.grid_spec()),
      grid(device, spec),
      correlation(device, window_spec(geometry.reference, relation)),
      step(device, {geometry.grid}),
      work(std::make_unique<Work>(device, spec)) {}
DeformableFit::Level::Level(Level&&) noexcept = default;
DeformableFit::Level& DeformableFit::Level::operator=(Level&&) noexcept = default;
DeformableFit::Level::~Level() = default;

DeformableFit::DeformableFit(DeformableFit&&) noexcept = default;
DeformableFit& DeformableFit::operator=(DeformableFit&&) noexcept = default;
DeformableFit::~DeformableFit() = default;

DeformableFit& DeformableFit::of(std::optional<DeformableFit>& kept, const Device& device,
                                 const Shape& reference, const Point3& reference_spacing,
                                 const Shape& moving, const Point3& moving_spacing,
                                 const DeformableSettings& settings, IntensityRelation relation) {
  if (!kept || !kept->matches(reference, moving, relation)) {
    kept.reset();  // release the old memory before allocating the new
    kept.emplace(device, reference, reference_spacing, moving, moving_spacing, settings, relation);
  }
  return *kept;
}

DeformableFit::DeformableFit(const Device& device, const Shape& reference,
                             const Point3& reference_spacing, const Shape& moving,
                             const Point3& moving_spacing, const DeformableSettings& settings,
                             IntensityRelation relation)
    : device_(device), settings_(settings), relation_(relation) {
  for (const auto& geometry : deformable_levels(reference, reference_spacing, moving,
                                                moving_spacing, settings.grid_spacing)) {
    Level level(device, geometry, relation);
    if (!levels_.empty()) {
      const DeformableLevel& finer = levels_.back().level;
      level.reference = Device(device).make_image(PixelType::f32, geometry.reference);
      level.moving = Device(device).make_image(PixelType::f32, geometry.moving);
      level.halve_reference.emplace(device, halving(finer.reference, geometry.reference));
      level.halve_moving.emplace(device, halving(finer.moving, geometry.moving));
    }
    levels_.push_back(std::move(level));
  }
}

// Half resolution, or the only level. Large images are judged like their reduced copies, by which
// the limits of the confidence were found: details of different people's anatomy correlate less,
// the finer they are.
std::size_t DeformableFit::judged_level() const {
  std::size_t level = std::min<std::size_t>(1, levels_.size() - 1);
  while (level + 1 < levels_.size() && longest_side(levels_[level].level.reference) >
                                           largest_judged_side(levels_[level].spec.dimensions())) {
    ++level;
  }
  return level;
}

double DeformableFit::mean_correlation(Stream& stream, const Level& level) const {
  const double mean = level.correlation.sum(stream).mean();
  return relation_ == IntensityRelation::any ? std::sqrt(mean) : mean;
}

std::vector<float> DeformableFit::curvatures(Stream& stream, StageClock& clock, const Level& level,
                                             const Image& reference) const {
  Work& work = *level.work;
  std::vector<float> sums;
  for (const auto entries : {CurvatureEntries::of_x, CurvatureEntries::others}) {
    // The forces are not computed yet; their memory has room for one part of the entries.
    clock.run("local_correlation", [&] {
      level.correlation.execute_curvatures(stream, reference, work.statistics, entries,
                                           work.forces);
    });
    clock.run("deformation_grid", [&] {
      level.grid.execute_sums(stream, level.spec.dimensions(), work.forces, work.sums);
    });
    const std::vector<float> part = downloaded(stream, work.sums);
    sums.insert(sums.end(), part.begin(), part.end());
  }
  sums.resize(static_cast<std::size_t>(level.spec.grids(level.spec.entries()).pixels()));
  return sums;
}

void DeformableFit::optimize(Stream& stream, StageClock& clock, std::size_t number,
                             const Image& reference, const Image& moving,
                             const HomogeneousMatrix& affine, bool judged, Field& field) const {
  const Level& level = levels_[number];
  const DeformableLevel& geometry = level.level;
  const DeformationGridSpec& spec = level.spec;
  const int axes = spec.dimensions();
  Work& work = *level.work;
  const auto& masks = level.masks;
  const auto floor_of = [&](const Image& image, Image& samples, KnownPixels known) {
    const NoiseSampling sampling(image.shape());
    clock.run("local_correlation",
              [&] { level.correlation.execute_noise_samples(stream, image, sampling, samples); });
    return static_cast<float>(
        noise_floor(downloaded(stream, samples), sampling, image.shape(), known));
  };
  const float reference_floor = floor_of(
      reference, work.reference_noise, masks ? KnownPixels(masks->reference_known) : KnownPixels());
  const float moving_floor =
      floor_of(moving, work.moving_noise, masks ? KnownPixels(masks->moving_known) : KnownPixels());
  const auto pose = pose_of(geometry, affine);
  upload(stream, pose, work.pose);

  std::array<double, 3> factors{1, 1, 1};
  std::array<double, 3> bound{};
  DeformationStepFactors step;
  step.momentum = momentum_of(settings_.grid_spacing);
  double cell = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
    cell /= spec.axes[a].step;
  }
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
    factors[a] = 1.0 / geometry.reference_factor[a];
    // In units of the grid, which is about cubic in space, so that no axis is preferred.
    const double spacing = spec.axes[a].spacing;
    const double weight = settings_.bending_weight * cell / (spacing * spacing);
    bound[a] = bending_bound(axes) * weight;
    step.force[a] = static_cast<float>(factors[a]);
    step.smoothness[a] = static_cast<float>(weight);
    step.limit[a] = static_cast<float>(longest_step * spec.axes[a].spacing);
  }

  clock.run("local_correlation", [&] {
    level.correlation.execute_statistics(stream, reference, reference_floor, work.statistics);
  });
  if (masks) {
    // Windows that do not count have no precision, and so no curvature.
    std::vector<float> statistics = downloaded(stream, work.statistics);
    const std::size_t half = statistics.size() / 2;
    for (std::size_t i = 0; i < half; ++i) statistics[half + i] *= masks->counted[i];
    upload(stream, statistics, work.statistics);
  }
  upload(stream,
         inverse_curvatures(curvatures(stream, clock, level, reference), axes, factors, bound),
         work.inverse);

  const auto compare = [&](const Image& coefficients) {
    clock.run("deformation_grid", [&] {
      const auto both =
          masks ? std::optional<DeformationMasks>({masks->reference, masks->moving}) : std::nullopt;
      level.grid.execute_warp(stream, coefficients, moving, work.pose, work.samples,
                              both ? &*both : nullptr);
    });
    clock.run("local_correlation", [&] {
      level.correlation.execute_forces(stream, reference, work.statistics, work.samples,
                                       moving_floor, work.forces);
    });
  };
  upload(stream, field.coefficients, work.point);
  upload(stream, field.coefficients, work.coefficients);
  if (number == 0) {
    const std::vector<float> none(field.coefficients.size());
    upload(stream, none, work.next);
    compare(work.next);
    field.correlation_before = mean_correlation(stream, level);
  }
  for (int i = 0; i < (number == 0 ? finest_steps : coarse_steps); ++i) {
    compare(work.point);
    clock.run("deformation_grid",
              [&] { level.grid.execute_sums(stream, axes, work.forces, work.sums); });
    clock.run("deformation_step", [&] {
      level.step.execute(stream, work.sums, work.inverse, step, work.point, work.coefficients,
                         work.next);
    });
    std::swap(work.point, work.next);
  }
  field.coefficients = downloaded(stream, work.coefficients);

  unfold(stream, clock, level, field);
  if (judged && number == judged_level()) {
    compare(work.coefficients);
    const std::vector<float> samples = downloaded(stream, work.samples);
    const std::span<const float> all(samples);
    // Beyond the edges of the moving image, the samples repeat its last pixels.
    const std::vector<float> known =
        masks ? std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                                   all.end())
              : std::vector<float>(all.size() / 2, 1.0F);
    field.structure =
        structure_correlation(downloaded(stream, reference), all.first(all.size() / 2), known,
                              all.subspan(all.size() / 2), spec.voxels);
  }
  if (number != 0) return;
  compare(work.coefficients);
  field.correlation = mean_correlation(stream, level);
}

DeterminantRange DeformableFit::determinants(Stream& stream, StageClock& clock,
                                             const Level& level) const {
  Work& work = *level.work;
  clock.run("deformation_grid", [&] {
    level.grid.execute_determinants(stream, work.coefficients, work.determinants);
    level.grid.execute_extremes(stream, work.determinants, low_determinant, high_determinant,
                                work.extremes);
  });
  const std::vector<float> rows = downloaded(stream, work.extremes);
  DeterminantRange range{rows[0], rows[1], 0};
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    range.least = std::min(range.least, static_cast<double>(rows[i]));
    range.most = std::max(range.most, static_cast<double>(rows[i + 1]));
    range.extreme += static_cast<double>(rows[i + 2]);
  }
  range.extreme /= static_cast<double>(level.spec.voxels.pixels());
  return range;
}

void DeformableFit::unfold(Stream& stream, StageClock& clock, const Level& level,
                           Field& field) const {
  Work& work = *level.work;
  const std::vector<float> none(static_cast<std::size_t>(level.spec.grid.pixels()));
  for (int i = 0; i <= max_relaxations; ++i) {
    field.determinants = determinants(stream, clock, level);
    if (field.determinants.least >= min_determinant || i == max_relaxations) return;
    upload(stream, none, work.marks);
    clock.run("deformation_grid", [&] {
      level.grid.execute_marks(stream, work.determinants, min_determinant, work.marks);
    });
    relax(field.coefficients, level.spec, downloaded(stream, work.marks));
    upload(stream, field.coefficients, work.coefficients);
  }
}

const Image& DeformableFit::image_of(std::size_t number, const Image& finest,
                                     std::optional<Image> Level::*coarser) const {
  return number == 0 ? finest : *(levels_[number].*coarser);
}

void DeformableFit::make_levels(Stream& stream, StageClock& clock, const Image& reference,
                                const Image& moving) {
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    Level& level = levels_[i];
    clock.run("halve_volume", [&] {
      level.halve_reference->execute(stream, image_of(i - 1, reference, &Level::reference),
                                     *level.reference);
      level.halve_moving->execute(stream, image_of(i - 1, moving, &Level::moving), *level.moving);
    });
  }
}

void DeformableFit::make_masks(Stream& stream, const FitImage& reference, const FitImage& moving) {
  if (reference.known.empty() && moving.known.empty()) {
    for (Level& level : levels_) level.masks.reset();
    return;
  }
  const auto complete = [](const FitImage& image) {
    if (!image.known.empty()) return std::vector<float>(image.known.begin(), image.known.end());
    return std::vector<float>(static_cast<std::size_t>(image.values.shape().pixels()), 1.0F);
  };
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    Level& level = levels_[i];
    const DeformableLevel& geometry = level.level;
    if (!level.masks) {
      level.masks = Masks{{},
                          {},
                          {},
                          device_.make_image(PixelType::f32, geometry.reference),
                          device_.make_image(PixelType::f32, geometry.moving)};
    }
    Masks& masks = *level.masks;
    if (i == 0) {
      masks.reference_known = complete(reference);
      masks.moving_known = complete(moving);
    } else {
      const DeformableLevel& finer = levels_[i - 1].level;
      const Masks& of = *levels_[i - 1].masks;
      masks.reference_known = halved_known(of.reference_known, finer.reference, geometry.reference);
      masks.moving_known = halved_known(of.moving_known, finer.moving, geometry.moving);
    }
    // Coarse windows reach far, and may contain filled pixels.
    masks.counted = i == 0 ? eroded_known(masks.reference_known, geometry.reference, window_radius)
                           : masks.reference_known;
    upload(stream, masks.counted, masks.reference);
    // One pixel more, for the interpolation.
    upload(stream,
           eroded_known(masks.moving_known, geometry.moving, i == 0 ? window_radius + 1 : 1),
           masks.moving);
    stream.finish();
  }
}

Deformation DeformableFit::run(Stream& stream, StageClock& clock, const FitImage& reference_image,
                               const FitImage& moving_image, const HomogeneousMatrix& affine,
                               bool judged) {
  const Image& reference = reference_image.values;
  const Image& moving = moving_image.values;
  make_levels(stream, clock, reference, moving);
  make_masks(stream, reference_image, moving_image);
  Field field;
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const Level& level = levels_[i];
    const int axes = level.spec.dimensions();
    if (field.coefficients.empty()) {
      field.coefficients.resize(static_cast<std::size_t>(level.spec.grids(axes).pixels()));
    } else {
      field.coefficients = refined_between(field.coefficients, levels_[i + 1].level, level.level,
                                           levels_.front().level.reference);
    }
    optimize(stream, clock, i, image_of(i, reference, &Level::reference),
             image_of(i, moving, &Level::moving), affine, judged, field);
  }
  structure_ = field.structure;
  return described(field, affine);
}

Deformation DeformableFit::described(const Field& field, const HomogeneousMatrix& affine) const {
  const DeformationGridSpec& spec = levels_.front().spec;
  PointGrid grid;
  grid.shape = spec.grid;
  const int axes = spec.dimensions();
  grid.spacing = {spec.axes[0].spacing, spec.axes[1].spacing, axes == 3 ? spec.axes[2].spacing : 1};
  grid.origin = {control_origin(grid.spacing.x), control_origin(grid.spacing.y),
                 axes == 3 ? control_origin(grid.spacing.z) : 0};
  const auto controls = static_cast<std::size_t>(spec.grid.pixels());
  std::vector<const float*> components;
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
    components.push_back(field.coefficients.data() + a * controls);
  }
  Deformation result;
  result.transform = Transform::of_matrix(TransformKind::affine, axes, affine) *
                     Transform::bspline(grid, components);
  result.correlation_before = field.correlation_before;
  result.correlation = field.correlation;
  result.min_jacobian = field.determinants.least;
  result.max_jacobian = field.determinants.most;
  result.extreme_jacobians = field.determinants.extreme;
  return result;
}

}  // namespace warpalign::detail
