// The registrar of series: warps each volume on the device, and fits its motion on the host.
#include <warpalign/volume_series.hpp>

#include "device/check.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/volume/initial_transform.hpp"
#include "registration/volume/motion_search.hpp"
#include "registration/volume/series/missing_voxels.hpp"
#include "registration/volume/series/series_model.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <algorithm>
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
constexpr std::int64_t min_side = 8;
constexpr int max_evaluations = 15;
// Steps are about ten times smaller from one to the next, so the rest is a tenth of this.
constexpr double tolerance = 3e-3;  // of the last step at the corners, in voxels
// Values beyond the volume that results keep, in voxels: what a rounded motion moves out of it.
constexpr double kept_beyond = 1;
// As a fraction of the largest value. Smaller differences are due to rounding.
constexpr double min_variation = 1e-6;
// The correlations of the last volumes, whose median is typical of the series.
constexpr std::size_t remembered = 31;
constexpr std::size_t enough_to_judge = 3;
// A volume is searched for if it differs from the reference by more than this many times what is
// typical, and by more than rounding.
constexpr double suspicious_ratio = 3;
constexpr double suspicious_excess = 0.01;

/// Device memory and plans for volumes of one type.
struct Warper {
  Warper(const Device& device_, PixelType type_, const Shape& shape)
      : type(type_),
        samples(Device(device_).make_image(type_, shape)),
        warped(Device(device_).make_image(type_, shape)),
        prefilter(device_, prefilter_spec(type_, shape)),
        interpolate(device_, interpolate_spec(type_, shape)) {}

  static PrefilterSpec prefilter_spec(PixelType type, const Shape& shape) {
    PrefilterSpec spec;
    spec.images = {shape, 3};
    spec.input = type;
    return spec;
  }
  static InterpolateSpec interpolate_spec(PixelType type, const Shape& shape) {
    InterpolateSpec spec;
    spec.images = {shape, 3};
    spec.output = shape;
    spec.output_type = type;
    return spec;
  }

  PixelType type;
  Image samples, warped;
  PrefilterPlan prefilter;
  InterpolatePlan interpolate;
};

/// The answer of a fit, and how good it is.
struct Fit {
  SpatialTransform transform;
  bool converged = false;
  double correlation = 0, voxels = 0;
};

void check_options(const VolumeSeriesOptions& options) {
  if (options.motion != Motion::translation && options.motion != Motion::rigid &&
      options.motion != Motion::similarity && options.motion != Motion::affine) {
    detail::refuse(stage,
                   "invalid motion for a series of volumes (choose from: translation, rigid, "
                   "similarity, affine)");
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
  return search;
}

}  // namespace

struct VolumeSeriesRegistrar::State {
  State(const Device& device_, const VolumeSeriesOptions& options_)
      : device(device_),
        options(options_),
        stream(device.make_stream()),
        search(device_, search_options(options_)) {}

  void take_reference(const HostVolume& volume);
  VolumeRegistration align(const HostVolume& volume, void* aligned);

  Warper& warper_for(PixelType type);
  void load(const HostVolume& volume);
  [[nodiscard]] std::span<const float> weights_at(const SpatialTransform& transform);
  const std::vector<float>& values_at(const SpatialTransform& transform);
  [[nodiscard]] HomogeneousMatrix voxels_of(const SpatialTransform& transform) const;
  Fit fit_from(const SpatialTransform& start);
  std::optional<SpatialTransform> searched(const HostVolume& volume);
  [[nodiscard]] double significance_of(const Fit& fit) const;
  [[nodiscard]] bool is_trusted(const Fit& fit) const;
  void remember(double correlation);
  void write_aligned(const HostVolume& volume, const Fit& fit, bool reliable, void* aligned);
  void write_warped(PixelType type, const SpatialTransform& transform, void* aligned);
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
  std::optional<Warper> warper;  // for the volumes' type
  std::optional<Image> coefficients, warped;
  std::optional<InterpolatePlan> interpolate;  // to f32
  std::vector<float> values;
  // Of the reference and the loaded volume, if some of their voxels are missing.
  std::optional<detail::MissingVoxels> reference_missing, missing_voxels;
  std::vector<float> weights;
  SpatialTransform last;
  std::deque<double> correlations;
};

Warper& VolumeSeriesRegistrar::State::warper_for(PixelType type) {
  if (!warper || warper->type != type) {
    warper.reset();  // release the old memory before allocating the new
    warper.emplace(device, type, shape);
  }
  return *warper;
}

/// Computes the coefficients of a volume, whose missing voxels are filled.
void VolumeSeriesRegistrar::State::load(const HostVolume& volume) {
  Warper& w = warper_for(volume.type);
  missing_voxels = detail::MissingVoxels::of(volume);
  const void* samples = missing_voxels ? missing_voxels->filled().data() : volume.data;
  stream.upload(samples, w.samples.size_bytes(), w.samples.buffer());
  w.prefilter.execute(stream, w.samples, *coefficients);
}

HomogeneousMatrix VolumeSeriesRegistrar::State::voxels_of(const SpatialTransform& transform) const {
  const detail::VolumeGrid& grid = model->grid();
  return HomogeneousMatrix::affine3(detail::voxel_rows(transform, grid, grid));
}

/// The loaded volume at the transformed positions.
const std::vector<float>& VolumeSeriesRegistrar::State::values_at(
    const SpatialTransform& transform) {
  interpolate->execute(stream, *coefficients, model ? voxels_of(transform) : HomogeneousMatrix{},
                       *warped);
  stream.download(*warped, values.data(), values.size() * sizeof(float));
  return values;
}

/// Which voxels of the reference are compared at a transform: all if the span is empty.
std::span<const float> VolumeSeriesRegistrar::State::weights_at(const SpatialTransform& transform) {
  if (!reference_missing && !missing_voxels) return {};
  weights.assign(values.size(), 1.0F);
  if (reference_missing) reference_missing->exclude_unknown(weights);
  if (missing_voxels) missing_voxels->exclude_unknown(voxels_of(transform), weights);
  return weights;
}

void VolumeSeriesRegistrar::State::take_reference(const HostVolume& volume) {
  model.reset();
  search_has_reference = false;
  check_volume("the reference volume", volume);
  if (volume.shape != shape || !interpolate) {
    warper.reset();
    interpolate.reset();
    warped.reset();
    coefficients.reset();
    shape = volume.shape;
    coefficients.emplace(device.make_image(PixelType::f32, shape));
    warped.emplace(device.make_image(PixelType::f32, shape));
    values.resize(static_cast<std::size_t>(shape.pixels()));
    // Last: it tells that all of these exist.
    interpolate.emplace(device, Warper::interpolate_spec(PixelType::f32, shape));
  }
  load(volume);
  std::vector<float> copy = values_at({});
  check_values("the reference volume", copy);
  reference_missing = missing_voxels;
  const auto* bytes = static_cast<const std::byte*>(volume.data);
  reference.assign(bytes, bytes + static_cast<std::size_t>(shape.pixels()) * size_of(volume.type));
  reference_type = volume.type;
  const Point3& s = options.spacing;
  model.emplace(std::move(copy), detail::VolumeGrid{shape, {s.x, s.y, s.z}, {}}, options.motion);
  last = {};
  correlations.clear();
}

Fit VolumeSeriesRegistrar::State::fit_from(const SpatialTransform& start) {
  Fit fit{start};
  for (int i = 0; i < max_evaluations && !fit.converged; ++i) {
    const std::vector<float>& warped_values = values_at(fit.transform);
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

/// The transform that VolumeRegistrar finds without a start, if it is reliable.
std::optional<SpatialTransform> VolumeSeriesRegistrar::State::searched(const HostVolume& volume) {
  if (!search_has_reference) {
    search.set_reference(HostVolume{reference.data(), reference_type, shape});
    search_has_reference = true;
  }
  const VolumeRegistration found = search.align(volume);
  if (!found.reliable) return std::nullopt;
  const detail::VolumeGrid& grid = model->grid();
  std::array<double, 12> rows{};
  std::copy_n(found.matrix.m.begin(), rows.size(), rows.begin());
  return detail::spatial_transform_of(rows, grid, grid);
}

void VolumeSeriesRegistrar::State::write_aligned(const HostVolume& volume, const Fit& fit,
                                                 bool reliable, void* aligned) {
  const std::size_t size = size_of(volume.type);
  if (!reliable) {
    std::memcpy(aligned, volume.data, static_cast<std::size_t>(shape.pixels()) * size);
    return;
  }
  write_warped(volume.type, fit.transform, aligned);
}

/// Writes the loaded volume, warped.
void VolumeSeriesRegistrar::State::write_warped(PixelType type, const SpatialTransform& transform,
                                                void* aligned) {
  Warper& w = *warper;
  const std::size_t size = size_of(type);
  w.interpolate.execute(stream, *coefficients, voxels_of(transform), w.warped);
  stream.download(w.warped, aligned, w.warped.size_bytes());
  if (missing_voxels) missing_voxels->set_missing(voxels_of(transform), type, aligned);
  const detail::VolumeGrid& grid = model->grid();
  const detail::CentredRows rows = detail::centred_rows(transform, grid, grid);
  auto* row = static_cast<std::byte*>(aligned);
  const auto row_bytes = static_cast<std::size_t>(shape.width) * size;
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y, row += row_bytes) {
      const detail::RowRange kept = detail::range_inside(rows, grid, y, z, kept_beyond);
      std::memset(row, 0, static_cast<std::size_t>(kept.first) * size);
      std::memset(row + static_cast<std::size_t>(kept.end) * size, 0,
                  row_bytes - static_cast<std::size_t>(kept.end) * size);
    }
  }
}

void VolumeSeriesRegistrar::State::check_like_reference(const HostVolume& volume) const {
  if (!model) detail::refuse(stage, "set_reference must be called first");
  check_volume("the volume", volume);
  if (volume.shape == shape) return;
  detail::refuse(stage, "the volume is " + to_string(volume.shape) + ", but the reference is " +
                            to_string(shape));
}

VolumeRegistration VolumeSeriesRegistrar::State::align(const HostVolume& volume, void* aligned) {
  check_like_reference(volume);
  load(volume);
  Fit fit = fit_from(last);
  bool found = false;
  if (!is_trusted(fit)) {
    if (const auto start = searched(volume)) {
      load(volume);
      const Fit other = fit_from(*start);
      found = other.converged;
      if (other.converged && (!fit.converged || other.correlation > fit.correlation)) fit = other;
    }
  }
  const detail::VolumeGrid& grid = model->grid();
  VolumeRegistration result = detail::described(fit.transform, grid, grid);
  result.motion = options.motion;
  result.missing.reference = reference_missing ? reference_missing->count() : 0;
  result.missing.moving = missing_voxels ? missing_voxels->count() : 0;
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
  if (result.reliable) {
    last = fit.transform;
    remember(fit.correlation);
  }
  if (aligned != nullptr) write_aligned(volume, fit, result.reliable, aligned);
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
  if (aligned == nullptr) detail::refuse(stage, "there is no memory for the aligned volume");
  state_->load(volume);
  const detail::VolumeGrid& grid = state_->model->grid();
  state_->write_warped(volume.type, detail::spatial_transform_of(rows, grid, grid), aligned);
}

VolumeRegistration VolumeSeriesRegistrar::align(const HostVolume& volume, void* aligned) {
  return state_->align(volume, aligned);
}

}  // namespace warpalign
