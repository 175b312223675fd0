// Searches the shift between two volumes in whole voxels: scores the peaks of phase correlations.
#include "registration/volume/search/volume_search.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/numerics/correlation.hpp"
#include "registration/volume/geometry/volume_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// In units of the Nyquist frequency. The first gives a sharp peak for volumes that share fine
// detail, the second a broad peak for smooth or noisy volumes.
constexpr std::array<float, 2> shift_sigmas{0.5F, 0.15F};
constexpr int reference_margin = 2;  // where the smoothing extends beyond the volume
constexpr int peaks_per_surface = 8;
constexpr int max_steps = 10;  // from a broad peak to the best shift nearby

using Sides = std::array<std::int64_t, 3>;

Sides sides_of(const Shape& shape) { return {shape.width, shape.height, shape.depth}; }

// Rounded up, because a limit that is not whole allows fractions of a voxel.
std::int64_t whole(double max_shift) {
  return static_cast<std::int64_t>(std::ceil(std::min(max_shift, 1e6)));
}

double correlation_of_moments(const VolumeMoments& m) {
  return correlation_of(
      Moments{m.voxels, m.reference, m.moving, m.reference_square, m.moving_square, m.product});
}

}  // namespace

Shape padded_volume_of(const Shape& reference, const Shape& moving) {
  return {fft_friendly_size(std::max(reference.width, moving.width)),
          fft_friendly_size(std::max(reference.height, moving.height)),
          fft_friendly_size(std::max(reference.depth, moving.depth))};
}

VolumeSearch::VolumeSearch(const Device& device, const Shape& reference, const Shape& moving,
                           bool marked)
    : reference_(reference),
      moving_(moving),
      padded_(padded_volume_of(reference, moving)),
      marked_(marked),
      fft_(device, {padded_, 3}),
      pad_reference_(device, {PixelType::f32, reference, padded_, shift_taper, marked}),
      pad_moving_(device, {PixelType::f32, moving, padded_, shift_taper, marked}),
      spectrum_sums_(device, {padded_}),
      peaks_(device, {padded_}),
      sums_(device, {reference, moving, reference_margin, marked}),
      padded_volume_(device.make_image(PixelType::f32, padded_)),
      reference_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      moving_spectrum_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))),
      cross_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_))) {
  for (const float sigma : shift_sigmas) {
    cross_powers_.emplace_back(device, CrossPowerSpec{padded_, sigma, false});
  }
}

void VolumeSearch::transform(Stream& stream, StageClock& clock, const PadVolumePlan& pad,
                             const Image& values, Image& spectrum) {
  clock.run("pad_volume", [&] { pad.execute(stream, values, {0, 1}, padded_volume_); });
  clock.run("fft", [&] { fft_.forward(stream, padded_volume_, spectrum); });
}

void VolumeSearch::set_reference(Stream& stream, StageClock& clock, const Image& reference) {
  transform(stream, clock, pad_reference_, reference, reference_spectrum_);
}

// For marked volumes, this overlap of the bounding boxes is an upper bound; best_of() counts the
// unmasked voxels.
bool VolumeSearch::allows(const VoxelShift& shift, const ShiftLimits& limits) const {
  const std::array<double, 3> most{limits.max_shift.x, limits.max_shift.y, limits.max_shift.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (most[axis] > 0 && std::abs(shift[axis]) > whole(most[axis])) return false;
  }
  return common_voxels(reference_, moving_, point_of(shift)) >= limits.min_overlap;
}

// A peak at d gives the shift modulo the padded frame, so along each axis up to two shifts are
// possible.
void VolumeSearch::add_shifts_of(const VolumePeak& peak, const ShiftLimits& limits) {
  const Sides padded = sides_of(padded_);
  for (std::size_t wraps = 0; wraps < 8; ++wraps) {
    VoxelShift shift{peak.x, peak.y, peak.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if ((wraps >> axis & 1U) != 0) shift[axis] -= padded[axis];
    }
    // Both surfaces may have the same peak.
    const bool duplicate = std::find(shifts_.begin(), shifts_.end(), shift) != shifts_.end();
    if (!duplicate && allows(shift, limits)) shifts_.push_back(shift);
  }
}

void VolumeSearch::find_shifts(Stream& stream, StageClock& clock, const ShiftLimits& limits) {
  const Point3& max_shift = limits.max_shift;
  const VolumePeakLimits peak_limits{{whole(max_shift.x), whole(max_shift.y), whole(max_shift.z)},
                                     peaks_per_surface};
  shifts_.clear();
  for (const CrossPowerPlan& cross_power : cross_powers_) {
    clock.run("cross_power",
              [&] { cross_power.execute(stream, moving_spectrum_, reference_spectrum_, cross_); });
    clock.run("inverse_fft", [&] { fft_.inverse(stream, cross_, padded_volume_); });
    std::span<const VolumePeak> peaks;
    clock.run("volume_peaks", [&] { peaks = peaks_.execute(stream, padded_volume_, peak_limits); });
    for (const VolumePeak& peak : peaks) add_shifts_of(peak, limits);
  }
}

// For n voxels of unrelated volumes, the variance of the correlation is 1/n times the sum over all
// lags of the product of their autocorrelations (Bartlett 1946). By Parseval's theorem it equals
// N sum |A|^2 |B|^2 / (sum |A|^2 sum |B|^2) / n. The fraction is the inverse of the factor of 1/n.
double VolumeSearch::independent_fraction(Stream& stream, StageClock& clock) const {
  SpectrumSums sums;
  clock.run("spectrum_sums",
            [&] { sums = spectrum_sums_.execute(stream, reference_spectrum_, moving_spectrum_); });
  const double all = static_cast<double>(padded_.pixels()) * sums.product;
  return all > 0 ? std::min(1.0, sums.a * sums.b / all) : 0;
}

std::optional<VolumeSearch::Scored> VolumeSearch::best_of(
    Stream& stream, StageClock& clock, const Pair& pair, std::span<const VoxelShift> shifts) const {
  std::span<const VolumeMoments> moments;
  clock.run("volume_moments",
            [&] { moments = sums_.moments(stream, pair.reference, pair.moving, shifts); });
  std::optional<Scored> best;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (moments[i].voxels < pair.min_overlap) continue;
    const double score = volume_significance(correlation_of_moments(moments[i]),
                                             pair.independent_fraction * moments[i].voxels);
    if (!best || score > best->score) best = Scored{shifts[i], score};
  }
  return best;
}

std::optional<FoundShift> VolumeSearch::find(Stream& stream, StageClock& clock,
                                             const Image& reference, const Image& moving,
                                             const ShiftLimits& limits) {
  transform(stream, clock, pad_moving_, moving, moving_spectrum_);
  const Pair pair{reference, moving, independent_fraction(stream, clock), limits.min_overlap};
  find_shifts(stream, clock, limits);
  std::optional<Scored> best = best_of(stream, clock, pair, shifts_);
  if (!best) return std::nullopt;
  for (int i = 0; i < max_steps; ++i) {
    std::array<VoxelShift, 6> neighbours{};
    std::size_t count = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const std::int64_t step : {-1, 1}) {
        VoxelShift shift = best->shift;
        shift[axis] += step;
        if (allows(shift, limits)) neighbours[count++] = shift;
      }
    }
    const std::optional<Scored> better =
        best_of(stream, clock, pair, std::span(neighbours).first(count));
    if (!better || better->score <= best->score) break;
    best = better;
  }
  return FoundShift{best->shift, pair.independent_fraction};
}

}  // namespace warpalign::detail
