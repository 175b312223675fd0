// Fits a free-form deformation between two images or volumes, on the device.
#include "registration/deformation/deformable_fit.hpp"

#include "registration/deformation/grid_choice.hpp"
#include "registration/deformation/transfers.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace warpalign::detail {

namespace {

/// The longest side of images, or of volumes, whose correlations are judged.
constexpr std::int64_t largest_judged_side(bool is_volume) { return is_volume ? 64 : 256; }

std::int64_t longest_side(const Shape& shape) {
  return std::max({shape.width, shape.height, shape.depth});
}

Deformation described(const FittedField& field, const DeformationGridSpec& spec,
                      const HomogeneousMatrix& affine) {
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
  result.min_jacobian = field.determinants.least;
  result.max_jacobian = field.determinants.most;
  result.extreme_jacobians = field.determinants.extreme;
  return result;
}

}  // namespace

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
    : device_(device),
      settings_(settings),
      relation_(relation),
      default_levels_(deformable_levels(reference, reference_spacing, moving, moving_spacing,
                                        settings.grid_spacing.value_or(default_grid_spacing))),
      fine_levels_(deformable_levels(reference, reference_spacing, moving, moving_spacing,
                                     fine_grid_spacing)),
      images_(device, default_levels_, relation),
      grid_(device, default_levels_, settings.bending_weight) {}

// Half resolution, or the only level. Large images are judged like their reduced copies, by which
// the limits of the confidence were found: details of different people's anatomy correlate less,
// the finer they are.
std::size_t DeformableFit::judged_level() const {
  std::size_t level = std::min<std::size_t>(1, default_levels_.size() - 1);
  const std::int64_t largest = largest_judged_side(default_levels_.front().reference.depth > 1);
  while (level + 1 < default_levels_.size() &&
         longest_side(default_levels_[level].reference) > largest) {
    ++level;
  }
  return level;
}

void DeformableFit::judge(Stream& stream, StageClock& clock, std::size_t number) {
  ImageLevel& level = images_.level(number);
  grid_.compare(stream, clock, level, number);
  const std::vector<float> samples = downloaded(stream, level.samples);
  const std::span<const float> all(samples);
  // Beyond the edges of the moving image, the samples repeat its last pixels.
  const std::vector<float> known =
      level.masks
          ? std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end())
          : std::vector<float>(all.size() / 2, 1.0F);
  structure_ =
      structure_correlation(downloaded(stream, *level.reference), all.first(all.size() / 2), known,
                            all.subspan(all.size() / 2), level.geometry.reference);
}

void DeformableFit::fit(Stream& stream, StageClock& clock, ControlGrid& grid, std::size_t end,
                        std::size_t last, bool judged, FittedField& field) {
  for (std::size_t i = end; i-- > last;) {
    grid.fit(stream, clock, images_.level(i), i, field);
    if (judged && i == judged_level()) judge(stream, clock, i);
  }
}

ControlGrid& DeformableFit::chosen_grid(Stream& stream, StageClock& clock, std::size_t number) {
  ImageLevel& level = images_.level(number);
  grid_.compare(stream, clock, level, number);
  const double correlation = level.mean_correlation(stream);
  if (!needs_fine_grid(correlation, level.expected_correlation(stream, clock))) return grid_;
  if (!fine_grid_) {
    fine_grid_.emplace(device_, fine_levels_, fine_weight * settings_.bending_weight);
  }
  return *fine_grid_;
}

Deformation DeformableFit::run(Stream& stream, StageClock& clock, const FitImage& reference,
                               const FitImage& moving, const HomogeneousMatrix& affine,
                               bool judged) {
  images_.set(stream, clock, reference, moving, affine);
  ImageLevel& finest = images_.level(0);
  grid_.compare_undeformed(stream, clock, finest, 0);
  const double correlation_before = finest.mean_correlation(stream);

  FittedField field;
  ControlGrid* grid = &grid_;
  const std::size_t levels = images_.count();
  std::size_t end = levels;
  // A relation of any sign has more freedom, which a fine grid would use to follow what differs.
  if (!settings_.grid_spacing && relation_ == IntensityRelation::same && levels > 1) {
    fit(stream, clock, grid_, end, 1, judged, field);
    end = 1;
    grid = &chosen_grid(stream, clock, 1);
    if (grid != &grid_) {
      judged = false;
      field = {};
      end = levels;
    }
  }
  fit(stream, clock, *grid, end, 0, judged, field);
  grid->compare(stream, clock, finest, 0);
  Deformation result = described(field, grid->spec(), affine);
  result.correlation_before = correlation_before;
  result.correlation = finest.mean_correlation(stream);
  return result;
}

}  // namespace warpalign::detail
