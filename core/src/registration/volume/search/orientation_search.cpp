// Searches rotations and shifts between two volumes at low resolution.
#include "registration/volume/search/orientation_search.hpp"

#include "registration/volume/geometry/orientation_grid.hpp"
#include "registration/volume/search/spectrum_ball.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace warpalign::detail {

namespace {

constexpr std::int64_t frame_side = 64;
constexpr double content_side = 40;  // voxels of the frame along the volumes' largest extent
constexpr double orientation_taper = 0.125;  // fraction of each side, at either end
// Widths of the phase correlations' spectral windows, in units of the Nyquist frequency. The second
// is for smooth volumes.
constexpr std::array<float, 2> orientation_sigmas{0.35F, 0.12F};

constexpr double degrees(double number) { return number * std::numbers::pi / 180; }

// The number of coarse orientations, about 15 degrees apart.
constexpr std::size_t all_coarse = 4608;
constexpr double coarse_reach = degrees(8);

/// One refinement of the grid: compares rotations `step` radians apart around the best `rotations`,
/// at frequencies up to `radius`. An error of half a step must not move these frequencies by more
/// than the width of a window's spectrum.
struct Refinement {
  std::size_t rotations;
  double step;
  double distinct;  // radians; closer rotations are duplicates
  int radius;
};
constexpr int coarse_radius = 8;
constexpr Refinement refinements[] = {{128, degrees(5), degrees(6), 16},
                                      {32, degrees(2), degrees(4), 24}};
constexpr int max_radius = max_ball_radius;
constexpr double distinct_at_last = degrees(4);
constexpr std::size_t neighbours = 27;
constexpr std::size_t max_finer = neighbours * 128;

constexpr std::size_t shifted_rotations = 24;  // the search correlates so many for shifts
// If the range of rotations is at most about 30 degrees, so that there are at most so many coarse
// orientations, the search tries all of them with the correlation for smooth volumes: the magnitude
// spectrum of a volume with a few blobs has too few frequencies to identify the rotation.
constexpr std::size_t max_tried = 96;
constexpr std::size_t smooth_surface = 1;  // of orientation_sigmas

VolumeGrid frame_for(const VolumeGrid& reference, const VolumeGrid& moving) {
  const double spacing = OrientationSearch::spacing_for(reference, moving);
  return {{frame_side, frame_side, frame_side}, {spacing, spacing, spacing}, {}};
}

InterpolateSpec linear(const VolumeGrid& volume, const VolumeGrid& frame) {
  InterpolateSpec spec;
  spec.images.shape = volume.shape;
  spec.output = frame.shape;
  spec.images.dimensions = 3;
  spec.spline.degree = 1;
  spec.spline.prefilter = std::nullopt;
  spec.spline.boundary = Boundary::constant;
  return spec;
}

std::int64_t ball_points() {
  const double volume = 4.0 / 3 * std::numbers::pi * std::pow(max_radius + 1, 3);
  return static_cast<std::int64_t>(volume);
}

RotationMatrix to_single(const Matrix3& rotation) {
  RotationMatrix single{};
  std::transform(rotation.begin(), rotation.end(), single.begin(),
                 [](double number) { return static_cast<float>(number); });
  return single;
}

}  // namespace

SearchFrame::SearchFrame(const Device& device, const VolumeGrid& volume, const VolumeGrid& frame,
                         bool marked)
    : volume_(volume),
      frame_(frame),
      taper_(device, {PixelType::f32, volume.shape, volume.shape, orientation_taper, marked}),
      interpolate_(device, linear(volume, frame)),
      tapered_(Device(device).make_image(PixelType::f32, volume.shape)) {}

void SearchFrame::take(Stream& stream, StageClock& clock, const Image& values) {
  clock.run("pad_volume", [&] { taper_.execute(stream, values, {0, 1}, tapered_); });
}

void SearchFrame::place(Stream& stream, StageClock& clock, const SpatialTransform& transform,
                        Image& placed) const {
  const HomogeneousMatrix rows = HomogeneousMatrix::affine3(voxel_rows(transform, frame_, volume_));
  clock.run("resample", [&] { interpolate_.execute(stream, tapered_, rows, placed); });
}

double OrientationSearch::spacing_for(const VolumeGrid& reference, const VolumeGrid& moving) {
  return std::max(reference.largest_extent(), moving.largest_extent()) / content_side;
}

OrientationSearch::OrientationSearch(const Device& device, const VolumeGrid& reference,
                                     const VolumeGrid& moving, double max_rotation, bool marked)
    : frame_(frame_for(reference, moving)),
      max_rotation_(max_rotation),
      reference_frame_(device, reference, frame_, marked),
      moving_frame_(device, moving, frame_, marked),
      fft_(device, {frame_.shape, 3}),
      window_(device, {PixelType::f32, frame_.shape, frame_.shape, 0.5}),
      peaks_(device, {frame_.shape}),
      scores_(device, {max_radius, ball_points(),
                       static_cast<std::int64_t>(std::max(all_coarse + 1, max_finer))}),
      placed_(Device(device).make_image(PixelType::f32, frame_.shape)),
      windowed_(Device(device).make_image(PixelType::f32, frame_.shape)),
      spectrum_(
          Device(device).make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_.shape))),
      reference_spectrum_(
          Device(device).make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_.shape))),
      cross_(Device(device).make_image(PixelType::c32, RealFftPlan::half_spectrum(frame_.shape))),
      cube_(Device(device).make_image(
          PixelType::f32, {2 * max_radius + 3, 2 * max_radius + 3, 2 * max_radius + 3})),
      coarse_(max_rotation > 0 ? orientations_within(max_rotation + coarse_reach, all_coarse)
                               : std::vector<Matrix3>{identity3()}),
      downloaded_(static_cast<std::size_t>(RealFftPlan::half_spectrum(frame_.shape).pixels())) {
  for (const float sigma : orientation_sigmas) {
    const CrossPowerSpec spec{frame_.shape, sigma, false};
    cross_powers_.emplace_back(device, spec);
    deviations_.push_back(std::sqrt(CrossPowerPlan::total_squared_weight(spec)));
  }
  finer_.reserve(max_finer);
  candidates_.reserve((shifted_rotations + 1) * orientation_sigmas.size() + max_tried);
}

void OrientationSearch::take_ball(Stream& stream, StageClock& clock, const SearchFrame& frame,
                                  std::vector<float>& cube) {
  frame.place(stream, clock, {}, placed_);
  clock.run("pad_volume", [&] { window_.execute(stream, placed_, {0, 1}, windowed_); });
  clock.run("fft", [&] { fft_.forward(stream, windowed_, spectrum_); });
  stream.download(spectrum_, downloaded_.data(), spectrum_.size_bytes());
  take_spectrum_ball(downloaded_, frame_side, max_radius, cube);
}

void OrientationSearch::set_reference(Stream& stream, StageClock& clock, const Image& reference) {
  reference_frame_.take(stream, clock, reference);
  take_ball(stream, clock, reference_frame_, reference_ball_);
  reference_frame_.place(stream, clock, {}, placed_);
  clock.run("fft", [&] { fft_.forward(stream, placed_, reference_spectrum_); });
}

// Fills scored_ with the rotations, best first.
void OrientationSearch::rank(Stream& stream, StageClock& clock, std::span<const Matrix3> rotations,
                             int radius) {
  take_ball_points(reference_ball_, 2 * max_radius + 3, radius, points_);
  matrices_.resize(rotations.size());
  std::transform(rotations.begin(), rotations.end(), matrices_.begin(), to_single);
  std::span<const float> scores;
  clock.run("rotation_scores",
            [&] { scores = scores_.execute(stream, cube_, points_, matrices_); });
  scored_.clear();
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    scored_.push_back({rotations[i], static_cast<double>(scores[i])});
  }
  std::sort(scored_.begin(), scored_.end(),
            [](const Scored& a, const Scored& b) { return a.score > b.score; });
}

// Fills kept_ with the best of scored_ that are at least `angle` apart.
void OrientationSearch::keep_distinct(double angle, std::size_t count) {
  // The products of the entries of two rotations add up to 1 + 2 cos(angle between them).
  const double near = 1 + 2 * std::cos(angle);
  kept_.clear();
  for (const Scored& scored : scored_) {
    if (kept_.size() == count) return;
    const bool duplicate = std::any_of(kept_.begin(), kept_.end(), [&](const Scored& other) {
      return std::inner_product(scored.rotation.begin(), scored.rotation.end(),
                                other.rotation.begin(), 0.0) > near;
    });
    if (!duplicate) kept_.push_back(scored);
  }
}

void OrientationSearch::propose_rotations(Stream& stream, StageClock& clock) {
  stream.upload(moving_ball_.data(), cube_.size_bytes(), cube_.buffer());
  rank(stream, clock, coarse_, coarse_radius);
  for (const Refinement& refinement : refinements) {
    keep_distinct(refinement.distinct, refinement.rotations);
    finer_.clear();
    for (const Scored& scored : kept_) {
      append_neighbours(scored.rotation, refinement.step, finer_);
    }
    rank(stream, clock, finer_, refinement.radius);
  }
  keep_distinct(distinct_at_last, shifted_rotations);
}

// The moving volume on the frame is read at R v. A peak at d means that it shows at v + d what the
// reference shows at v, so the reference's position v maps to R (v + d).
void OrientationSearch::add_shifts(Stream& stream, StageClock& clock, const Matrix3& rotation,
                                   std::size_t first) {
  const auto along = [&](std::int64_t at, std::size_t axis) {
    const std::int64_t signed_at = 2 * at > frame_side ? at - frame_side : at;
    return static_cast<double>(signed_at) * frame_.spacing[axis];
  };
  moving_frame_.place(stream, clock, {rotation, {}}, placed_);
  clock.run("fft", [&] { fft_.forward(stream, placed_, spectrum_); });
  for (std::size_t i = first; i < cross_powers_.size(); ++i) {
    clock.run("cross_power",
              [&] { cross_powers_[i].execute(stream, spectrum_, reference_spectrum_, cross_); });
    clock.run("inverse_fft", [&] { fft_.inverse(stream, cross_, placed_); });
    std::span<const VolumePeak> peaks;
    clock.run("volume_peaks", [&] {
      peaks = peaks_.execute(stream, placed_, VolumePeakLimits{{}, 1});
    });
    for (const VolumePeak& peak : peaks) {
      const Vector3 shift{along(peak.x, 0), along(peak.y, 1), along(peak.z, 2)};
      VolumeCandidate candidate;
      candidate.transform = {rotation, product(rotation, shift)};
      candidate.correlation = static_cast<double>(peak.value) / deviations_[i];
      candidates_.push_back(candidate);
    }
  }
}

std::span<VolumeCandidate> OrientationSearch::find(Stream& stream, StageClock& clock,
                                                   const Image& moving) {
  moving_frame_.take(stream, clock, moving);
  kept_.clear();
  if (max_rotation_ > 0) {
    take_ball(stream, clock, moving_frame_, moving_ball_);
    propose_rotations(stream, clock);
  }
  candidates_.clear();
  add_shifts(stream, clock, identity3(), 0);
  for (const Scored& scored : kept_) {
    if (angle_of(scored.rotation) <= max_rotation_ + coarse_reach) {
      add_shifts(stream, clock, scored.rotation, 0);
    }
  }
  if (coarse_.size() <= max_tried) {
    for (const Matrix3& rotation : coarse_) {
      add_shifts(stream, clock, rotation, smooth_surface);
    }
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const VolumeCandidate& a, const VolumeCandidate& b) {
              return a.correlation > b.correlation;
            });
  if (candidates_.size() > max_candidates) candidates_.resize(max_candidates);
  return candidates_;
}

}  // namespace warpalign::detail
