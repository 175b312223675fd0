// The registrar of series: warps each volume on the device, and fits its motion on the host. A
// deformation is fitted on the device, after the affine transform.
#include <warpalign/volume_series.hpp>

#include "device/check.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/volume/deformation_options.hpp"
#include "registration/volume/initial_transform.hpp"
#include "registration/volume/motion_search.hpp"
#include "registration/volume/series/missing_voxels.hpp"
#include "registration/volume/series/series_deformation.hpp"
#include "registration/volume/series/series_model.hpp"
#include "registration/volume/series/volume_warper.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

namespace {

using detail::SpatialTransform;

constexpr const char* stage = "register_series";
constexpr const char* no_memory = "there is no memory for the aligned volume";
constexpr std::int64_t min_side = 8;
constexpr int max_evaluations = 15;
// Steps are about ten times smaller from one to the next, so the rest is a tenth of this.
constexpr double tolerance = 3e-3;  // of the last step at the corners, in voxels
// As a fraction of the largest value. Smaller differences are due to rounding.
constexpr double min_variation = 1e-6;
// The correlations of the last volumes, whose median is typical of the series.
constexpr std::size_t remembered = 31;
constexpr std::size_t enough_to_judge = 3;
// A volume is searched for if it differs from the reference by more than this many times what is
// typical, and by more than rounding.
constexpr double suspicious_ratio = 3;
constexpr double suspicious_excess = 0.01;

/// The answer of a fit, and how good it is.
struct Fit {
  SpatialTransform transform;
  bool converged = false;
  double correlation = 0, voxels = 0;
};

void check_options(const VolumeSeriesOptions& options) {
  if (options.motion != Motion::translation && options.motion != Motion::rigid &&
      options.motion != Motion::similarity && options.motion != Motion::affine &&
      options.motion != Motion::deformable) {
    detail::refuse(stage,
                   "invalid motion for a series of volumes (choose from: translation, rigid, "
                   "similarity, affine, deformable)");
  }
}

void check_volume(const char* what, const HostVolume& volume) {
  detail::check_real(stage, what, volume.type);
  for (const std::int64_t side : {volume.shape.width, volume.shape.height, volume.shape.depth}) {
    if (side < min_side || side > detail::max_side) {
      detail::refuse(stage, std::string(what) + " is " + to_string(volume.shape) +
                                "; each side must be " + std::to_string(min_side) + " to " +
                                std::to_string(detail::max_side) + " voxels");
    }
  }
  if (volume.data == nullptr) detail::refuse(stage, std::string(what) + " has no voxels");
}

void check_values(const char* what, const std::vector<float>& values) {
  const bool finite =
      std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  if (!finite) {
    throw Error(ErrorKind::invalid_image, std::string(what) +
                                              " has values beyond the range of "
                                              "single precision");
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double range = static_cast<double>(*most) - static_cast<double>(*least);
  const double largest =
      std::max(std::abs(static_cast<double>(*least)), std::abs(static_cast<double>(*most)));
  if (!(range > min_variation * largest)) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) + " is constant: it has no contrast to register");
  }
}

VolumeRegistrationOptions search_options(const VolumeSeriesOptions& options) {
  VolumeRegistrationOptions search;
  search.motion = options.motion;
  search.reference_spacing = search.moving_spacing = options.spacing;
  search.grid_spacing = options.grid_spacing;
  search.bending_weight = options.bending_weight;
  return detail::with_default_grid(search);
}

/// The motion that is fitted on the host.
Motion fitted_motion(const VolumeSeriesOptions& options) {
  return options.motion == Motion::deformable ? Motion::affine : options.motion;
}

}  // namespace

struct VolumeSeriesRegistrar::State {
  State(const Device& device_, const VolumeSeriesOptions& options_)
      : device(device_),
        options(options_),
        stream(device.make_stream()),
        search(device_, search_options(options_)) {
    if (options.motion == Motion::deformable) {
      deformation.emplace(device, stream, search_options(options));
    }
  }

  void take_reference(const HostVolume& volume);
  VolumeRegistration align(const HostVolume& volume, void* aligned);

  [[nodiscard]] std::span<const float> weights_at(const SpatialTransform& transform);
  [[nodiscard]] HomogeneousMatrix voxels_of(const SpatialTransform& transform) const;
  [[nodiscard]] SpatialTransform spatial_of(const HomogeneousMatrix& matrix) const;
  Fit fit_from(const SpatialTransform& start);
  std::optional<VolumeRegistration> searched(const HostVolume& volume);
  [[nodiscard]] double significance_of(const Fit& fit) const;
  [[nodiscard]] bool is_trusted(const Fit& fit) const;
  [[nodiscard]] VolumeRegistration described(const Fit& fit, bool found) const;
  void remember(double correlation);
  void write_aligned(const HostVolume& volume, const VolumeRegistration& result, void* aligned);
  void check_like_reference(const HostVolume& volume) const;

  Device device;
  VolumeSeriesOptions options;
  Stream stream;
  VolumeRegistrar search;
  bool search_has_reference = false;
  std::vector<std::byte> reference;  // for the search, should it be needed
  PixelType reference_type = PixelType::f32;
  std::optional<detail::SeriesModel> model;
  Shape shape;
  std::optional<detail::VolumeWarper> warper;
  std::optional<detail::SeriesDeformation> deformation;  // of the motion deformable
  std::optional<detail::MissingVoxels> reference_missing;
  std::vector<float> weights;
  SpatialTransform last;
  std::deque<double> correlations;
};

HomogeneousMatrix VolumeSeriesRegistrar::State::voxels_of(const SpatialTransform& transform) const {
  const detail::VolumeGrid& grid = model->grid();
  return HomogeneousMatrix::affine3(detail::voxel_rows(transform, grid, grid));
}

SpatialTransform VolumeSeriesRegistrar::State::spatial_of(const HomogeneousMatrix& matrix) const {
  const detail::VolumeGrid& grid = model->grid();
  std::array<double, 12> rows{};
  std::copy_n(matrix.m.begin(), rows.size(), rows.begin());
  return detail::spatial_transform_of(rows, grid, grid);
}

/// Which voxels of the reference are compared at a transform: all if the span is empty.
std::span<const float> VolumeSeriesRegistrar::State::weights_at(const SpatialTransform& transform) {
  const detail::MissingVoxels* missing = warper->missing();
  if (!reference_missing && missing == nullptr) return {};
  weights.assign(static_cast<std::size_t>(shape.pixels()), 1.0F);
  if (reference_missing) reference_missing->exclude_unknown(weights);
  if (missing != nullptr) missing->exclude_unknown(voxels_of(transform), weights);
  return weights;
}

void VolumeSeriesRegistrar::State::take_reference(const HostVolume& volume) {
  model.reset();
  search_has_reference = false;
  check_volume("the reference volume", volume);
  if (volume.shape != shape || !warper) {
    warper.reset();  // release the old memory before allocating the new
    shape = volume.shape;
    warper.emplace(device, stream, shape);
  }
  warper->load(volume);
  std::vector<float> values = warper->values_at({});
  check_values("the reference volume", values);
  reference_missing.reset();
  if (warper->missing() != nullptr) reference_missing = *warper->missing();
  if (deformation) deformation->set_reference(warper->values_on_device(), warper->missing());
  const auto* bytes = static_cast<const std::byte*>(volume.data);
  reference.assign(bytes, bytes + static_cast<std::size_t>(shape.pixels()) * size_of(volume.type));
  reference_type = volume.type;
  const Point3& s = options.spacing;
  model.emplace(std::move(values), detail::VolumeGrid{shape, {s.x, s.y, s.z}, {}},
                fitted_motion(options));
  last = {};
  correlations.clear();
}

Fit VolumeSeriesRegistrar::State::fit_from(const SpatialTransform& start) {
  Fit fit{start};
  for (int i = 0; i < max_evaluations && !fit.converged; ++i) {
    const std::vector<float>& warped_values = warper->values_at(voxels_of(fit.transform));
    if (i == 0) check_values("the volume", warped_values);
    const detail::SeriesComparison found =
        model->compare(warped_values, fit.transform, weights_at(fit.transform));
    fit.correlation = found.correlation;
    fit.voxels = found.voxels;
    if (!found.next) break;
    const detail::VolumeGrid& grid = model->grid();
    fit.converged = detail::corner_distance(*found.next, fit.transform, grid, grid) < tolerance;
    fit.transform = *found.next;
  }
  return fit;
}

double VolumeSeriesRegistrar::State::significance_of(const Fit& fit) const {
  const double share = fit.voxels / model->inner_voxels();
  return detail::volume_significance(fit.correlation, share * model->independent_voxels());
}

/// Whether a fit needs no search.
bool VolumeSeriesRegistrar::State::is_trusted(const Fit& fit) const {
  if (!fit.converged || detail::volume_confidence(significance_of(fit)) < 0.5) return false;
  if (correlations.size() < enough_to_judge) return true;
  std::vector<double> sorted(correlations.begin(), correlations.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return 1 - fit.correlation <= suspicious_ratio * (1 - *middle) + suspicious_excess;
}

void VolumeSeriesRegistrar::State::remember(double correlation) {
  correlations.push_back(correlation);
  if (correlations.size() > remembered) correlations.pop_front();
}

/// What VolumeRegistrar finds without a start, if it is reliable.
std::optional<VolumeRegistration> VolumeSeriesRegistrar::State::searched(const HostVolume& volume) {
  if (!search_has_reference) {
    search.set_reference(HostVolume{reference.data(), reference_type, shape});
    search_has_reference = true;
  }
  VolumeRegistration found = search.align(volume);
  if (!found.reliable) return std::nullopt;
  return found;
}

void VolumeSeriesRegistrar::State::write_aligned(const HostVolume& volume,
                                                 const VolumeRegistration& result, void* aligned) {
  if (!result.reliable) {
    std::memcpy(aligned, volume.data,
                static_cast<std::size_t>(shape.pixels()) * size_of(volume.type));
  } else if (result.deformation) {
    warper->write(result.deformation->transform, aligned);
  } else {
    warper->write(spatial_of(result.matrix), model->grid(), aligned);
  }
}

void VolumeSeriesRegistrar::State::check_like_reference(const HostVolume& volume) const {
  if (!model) detail::refuse(stage, "set_reference must be called first");
  check_volume("the volume", volume);
  if (volume.shape == shape) return;
  detail::refuse(stage, "the volume is " + to_string(volume.shape) + ", but the reference is " +
                            to_string(shape));
}

/// `found`: whether the search has found the start of the fit.
VolumeRegistration VolumeSeriesRegistrar::State::described(const Fit& fit, bool found) const {
  const detail::VolumeGrid& grid = model->grid();
  VolumeRegistration result = detail::described(fit.transform, grid, grid);
  result.motion = fitted_motion(options);
  result.missing.reference = reference_missing ? reference_missing->count() : 0;
  result.missing.moving = warper->missing() != nullptr ? warper->missing()->count() : 0;
  result.correlation = fit.correlation;
  result.overlap = std::min(1.0, fit.voxels / model->inner_voxels());
  result.significance = significance_of(fit);
  result.refined = fit.converged;
  result.confidence = detail::volume_confidence(result.significance);
  // The search has judged a volume whose correlation alone is not enough.
  if (found && fit.converged) result.confidence = std::max(result.confidence, 0.5);
  if (!fit.converged) {
    result.confidence = std::min(result.confidence, detail::max_unrefined_confidence);
  }
  result.reliable = result.confidence >= 0.5;
  return result;
}

VolumeRegistration VolumeSeriesRegistrar::State::align(const HostVolume& volume, void* aligned) {
  check_like_reference(volume);
  warper->load(volume);
  Fit fit = fit_from(last);
  bool found = false;
  std::optional<VolumeRegistration> other;
  if (!is_trusted(fit) && (other = searched(volume))) {
    warper->load(volume);
    const Fit from_search = fit_from(spatial_of(other->matrix));
    found = from_search.converged;
    if (found && (!fit.converged || from_search.correlation > fit.correlation)) fit = from_search;
  }
  VolumeRegistration result = described(fit, found);
  if (result.reliable) {
    last = fit.transform;
    remember(fit.correlation);
    if (deformation) {
      result.deformation =
          deformation->fit(warper->values_on_device(), warper->missing(), result.matrix);
    }
  } else if (other && other->deformation) {
    result = *std::move(other);  // judged by its deformation
  }
  if (aligned != nullptr) write_aligned(volume, result, aligned);
  return result;
}

VolumeSeriesRegistrar::VolumeSeriesRegistrar(const Device& device,
                                             const VolumeSeriesOptions& options) {
  check_options(options);
  state_ = std::make_unique<State>(device, options);
}
VolumeSeriesRegistrar::VolumeSeriesRegistrar(VolumeSeriesRegistrar&&) noexcept = default;
VolumeSeriesRegistrar& VolumeSeriesRegistrar::operator=(VolumeSeriesRegistrar&&) noexcept = default;
VolumeSeriesRegistrar::~VolumeSeriesRegistrar() = default;

void VolumeSeriesRegistrar::set_reference(const HostVolume& reference) {
  state_->take_reference(reference);
}

void VolumeSeriesRegistrar::start_from(const HomogeneousMatrix& transform) {
  const detail::VoxelRows rows = detail::checked_initial(transform);
  if (!state_->model) detail::refuse(stage, "set_reference must be called first");
  const detail::VolumeGrid& grid = state_->model->grid();
  state_->last = detail::spatial_transform_of(rows, grid, grid);
}

void VolumeSeriesRegistrar::warp(const HostVolume& volume, const HomogeneousMatrix& transform,
                                 void* aligned) {
  const detail::VoxelRows rows = detail::checked_initial(transform);
  state_->check_like_reference(volume);
  if (aligned == nullptr) detail::refuse(stage, no_memory);
  state_->warper->load(volume);
  const detail::VolumeGrid& grid = state_->model->grid();
  state_->warper->write(detail::spatial_transform_of(rows, grid, grid), grid, aligned);
}

void VolumeSeriesRegistrar::warp(const HostVolume& volume, const Transform& transform,
                                 void* aligned) {
  if (transform.dimensions() != 3) detail::refuse(stage, "the transform is not of volumes");
  state_->check_like_reference(volume);
  if (aligned == nullptr) detail::refuse(stage, no_memory);
  state_->warper->load(volume);
  state_->warper->write(transform, aligned);
}

VolumeRegistration VolumeSeriesRegistrar::align(const HostVolume& volume, void* aligned) {
  return state_->align(volume, aligned);
}

}  // namespace warpalign
