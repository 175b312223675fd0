// Estimates the similarities of a batch of frames, from coarse levels to full resolution.
#include "registration/frames/similarity_search.hpp"

#include "registration/frames/frame_stack.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/stages/log_polar.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace warpalign::detail {

namespace {

// The larger sides of the coarse levels. The search for starts uses the medium level. The fits
// begin on the coarse level, where they tolerate larger errors of rotation and scale.
constexpr std::int64_t medium_side = 128;
constexpr std::int64_t coarse_side = 64;
// The side of the log-polar grid.
constexpr std::int64_t polar_side = 128;

// The start's shift is accurate to half a pixel of the medium level, which is a quarter of a pixel
// of the coarse level. Errors of rotation and scale move the corners by more.
constexpr FrameFitLimits coarse_limits{24, 0.02, 16};
constexpr FrameFitLimits medium_limits{16, 0.01, 4};
// In pixels of the medium level. The remaining error is a small fraction of them, but may be many
// pixels of a large frame.
constexpr double max_medium_drift = 0.5;
constexpr FrameFitLimits frame_limits{16, 0.001, 0};

Sampling2d coarser(const Shape& judged, std::int64_t side) {
  return {std::max(1.0, larger_side(judged) / static_cast<double>(side))};
}

// The sums that has_even_illumination() reads.
ShiftSums illumination_sums(const FrameSums& s) {
  ShiftSums light;
  light.weight = s.weight;
  light.r = s.r;
  light.m = s.m;
  light.rr = s.rr;
  light.mm = s.mm;
  light.rm = s.rm;
  light.mx_mx = light.my_my = s.slopes / 2;
  return light;
}

}  // namespace

StackFit::StackFit(const Device& device, const Shape& shape, const StackSizes& sizes, Motion motion)
    : cells_(cells_of(shape)),
      sums_(device,
            {shape, static_cast<std::int64_t>(cells_.size()), sizes.frames, sizes.references}),
      fits_(count_of(sizes.frames), FrameFit(shape, motion)),
      states_(fits_.size() * cells_.size()),
      results_(states_.size()),
      illumination_sums_(cells_.size()),
      even_illumination_(fits_.size()) {}

void StackFit::evaluate(StageClock& clock, const Image& images, const Image& references,
                        std::span<const Means> means) {
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      FrameState& state = states_[i * cells_.size() + c];
      state = fits_[i].active() ? fits_[i].state(cells_[c], means[i].image, means[i].reference)
                                : FrameState{};
    }
  }
  Stream& stream = clock.stream();
  clock.run("frame sums", [&] { sums_.enqueue(stream, images, references, states_); });
  sums_.fetch(stream, states_, results_);
}

void StackFit::step(std::size_t image) {
  const auto cells = std::span(results_).subspan(image * cells_.size(), cells_.size());
  FrameSums whole;
  for (const FrameSums& cell : cells) whole += cell;
  fits_[image].take(whole);
  if (!fits_[image].converged()) return;
  std::transform(cells.begin(), cells.end(), illumination_sums_.begin(), illumination_sums);
  even_illumination_[image] =
      detail::has_even_illumination(illumination_sums_, fits_[image].gain(), fits_[image].offset())
          ? 1
          : 0;
}

void StackFit::run(StageClock& clock, const Image& images, const Image& references,
                   std::span<const Means> means) {
  std::fill(even_illumination_.begin(), even_illumination_.end(), 0);
  const auto some_active = [&] {
    return std::any_of(fits_.begin(), fits_.end(), [](const FrameFit& f) { return f.active(); });
  };
  while (some_active()) {
    evaluate(clock, images, references, means);
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      if (fits_[i].active()) step(i);
    }
  }
}

CoarseLevels::CoarseLevels(const Device& device, const Shape& judged, std::int64_t side,
                           std::int64_t images, bool by_image)
    : judged_(judged),
      sampling_(coarser(judged, side)),
      level_(level_shape(judged, sampling_)),
      smooth_(device, stack_of(level_smoothing(PixelType::f32, judged, false, sampling_), images)),
      normalization_(device, {level_, contrast_sigma, false, images, by_image}),
      values_(device.make_image(PixelType::f32, stacked(level_, 2, images))),
      normalized_(device.make_image(PixelType::f32, values_.shape())) {}

const Image& CoarseLevels::run(StageClock& clock, const Image& judged,
                               std::span<const LocalLevels> normalization) {
  Stream& stream = clock.stream();
  clock.run("coarse levels", [&] {
    smooth_.execute(stream, judged, values_);
    normalize(stream, normalization_, values_, normalization, normalized_);
  });
  return normalized_;
}

LevelSpectra::LevelSpectra(const Device& device, const Shape& level, std::int64_t images)
    : cut_(device, {level, images, {WindowOrigin{}}, level}),
      fft_(device, {stacked(level, 2, images), 2, FftDirections::forward}),
      means_(device.make_buffer(count_of(images) * sizeof(float))),
      windows_(device.make_image(PixelType::f32, stacked(level, 2, images))),
      spectra_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(windows_.shape()))) {}

void LevelSpectra::run(StageClock& clock, const Image& levels) {
  Stream& stream = clock.stream();
  clock.run("cut windows", [&] { cut_.execute(stream, levels, means_, windows_); });
  clock.run("fft", [&] { fft_.forward(stream, windows_, spectra_); });
}

SpectrumPeaks::SpectrumPeaks(const Device& device, const Shape& image, const StackSizes& sizes,
                             float sigma)
    : power_(device, {image, sizes.references, sizes.frames / sizes.references, sigma}),
      fft_(device, {stacked(image, 2, sizes.frames), 2, FftDirections::inverse}),
      peak_(device, {stacked(image, 2, sizes.frames)}),
      surfaces_(device.make_image(PixelType::f32, stacked(image, 2, sizes.frames))),
      on_device_(device.make_buffer(count_of(sizes.frames) * sizeof(PeakRecord))),
      records_(count_of(sizes.frames)) {}

std::span<const PeakRecord> SpectrumPeaks::run(StageClock& clock, const Image& references,
                                               Image& spectra) {
  Stream& stream = clock.stream();
  clock.run("cross power", [&] { power_.execute(stream, references, spectra, spectra); });
  clock.run("inverse fft", [&] { fft_.inverse(stream, spectra, surfaces_); });
  clock.run("peak", [&] { peak_.execute(stream, surfaces_, on_device_); });
  stream.download(on_device_, records_.data(), records_.size() * sizeof(PeakRecord));
  return records_;
}

PolarSpectra::PolarSpectra(const Device& device, const Shape& level, std::int64_t images)
    : log_polar_(device, {level, grid(), images, RegistrationOptions{}.spectrum_exponent}),
      fft_(device, {stacked(grid(), 2, images), 2, FftDirections::forward}),
      polar_(device.make_image(PixelType::f32, stacked(grid(), 2, images))),
      spectra_(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(polar_.shape()))) {}

Shape PolarSpectra::grid() noexcept { return {polar_side, polar_side, 1}; }

Image& PolarSpectra::run(StageClock& clock, const Image& spectra) {
  Stream& stream = clock.stream();
  clock.run("log-polar", [&] { log_polar_.execute(stream, spectra, polar_); });
  clock.run("fft", [&] { fft_.forward(stream, polar_, spectra_); });
  return spectra_;
}

StartSearch::StartSearch(const Device& device, const Shape& level, const StackSizes& sizes,
                         Motion motion)
    : level_(level),
      motion_(motion),
      references_(device, level, sizes.references),
      images_(device, level, sizes.frames),
      polar_references_(device, level, sizes.references),
      polar_images_(device, level, sizes.frames),
      peaks_(device, level, sizes, correlation_sigma),
      polar_peaks_(device, PolarSpectra::grid(), sizes, RegistrationOptions{}.log_polar_sigma),
      rotate_(device, {.spline = {.degree = 1, .boundary = Boundary::constant},
                       .images = {.shape = level, .count = sizes.frames},
                       .output = level}),
      rotated_(device.make_image(PixelType::f32, stacked(level, 2, sizes.frames))),
      rotations_(count_of(sizes.frames)),
      transforms_(count_of(sizes.frames)),
      starts_(count_of(sizes.frames)) {}

void StartSearch::take_references(StageClock& clock, const Image& levels) {
  references_.run(clock, levels);
  polar_references_.run(clock, references_.spectra());
}

// Log-polar spectra cannot distinguish a rotation from the one 180 degrees further. The search does
// not try the second one, and leaves frames that are upside down to a Registrar.
void StartSearch::find_rotations(StageClock& clock) {
  const LogPolarGrid grid = LogPolarPlan::grid({level_, PolarSpectra::grid()});
  const auto side = static_cast<double>(polar_side);
  const std::span<const PeakRecord> peaks = polar_peaks_.run(
      clock, polar_references_.spectra(), polar_images_.run(clock, images_.spectra()));
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    Similarity similarity;
    if (peaks[i].value > 0) {
      const Point at = subpixel_position(peaks[i]);
      similarity.rotation_deg =
          -signed_shift(at.y, side) * grid.angle_step * 180 / std::numbers::pi;
      if (motion_ == Motion::similarity) {
        similarity.scale = std::exp(-signed_shift(at.x, side) * grid.log_base);
      }
    }
    rotations_[i] = similarity.matrix(level_, level_);
    transforms_[i] = rotations_[i];
  }
}

// The correlated image shows at p what the original image has at rotations_[i](p).
void StartSearch::take_better(std::span<const PeakRecord> peaks, SearchMethod found_by) {
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const auto height = static_cast<double>(peaks[i].value);
    const auto shift = shift_at(peaks[i], level_, std::numeric_limits<double>::infinity());
    if (!shift || !(height > starts_[i].height)) continue;
    starts_[i] = {found_by, height,
                  Affine::translation(-shift->x, -shift->y) * rotations_[i].inverse()};
  }
}

std::span<const StartSearch::Start> StartSearch::run(StageClock& clock, const Image& levels) {
  std::fill(starts_.begin(), starts_.end(), Start{});
  images_.run(clock, levels);
  find_rotations(clock);
  clock.run("rotation", [&] { rotate_.execute(clock.stream(), levels, transforms_, rotated_); });
  const auto peaks_of = [&](const Image& shown) {
    images_.run(clock, shown);
    return peaks_.run(clock, references_.spectra(), images_.spectra());
  };
  take_better(peaks_of(rotated_), SearchMethod::log_polar);
  std::fill(rotations_.begin(), rotations_.end(), Affine{});
  take_better(peaks_of(levels), SearchMethod::shifts);
  return starts_;
}

SimilaritySearch::SimilaritySearch(const Device& on, const Shape& frame, const Shape& judged,
                                   double spacing, const StackSizes& sizes, Motion motion)
    : frame_(frame),
      judged_to_frame_(level_to_image(frame, {spacing})),
      medium_references_(on, judged, medium_side, sizes.references, sizes.references > 1),
      coarse_references_(on, judged, coarse_side, sizes.references, sizes.references > 1),
      medium_(on, judged, medium_side, sizes.frames, sizes.references > 1),
      coarse_(on, judged, coarse_side, sizes.frames, sizes.references > 1),
      starts_(on, medium_.shape(), sizes, motion),
      medium_fit_(on, medium_.shape(), sizes, motion),
      coarse_fit_(on, coarse_.shape(), sizes, motion),
      fit_(on, frame, sizes, motion),
      means_(count_of(sizes.frames)),
      no_means_(count_of(sizes.frames)),
      found_(count_of(sizes.frames)) {}

void SimilaritySearch::take_references(StageClock& clock, const Image& pixels,
                                       const FrameLevels& judged) {
  references_ = &pixels;
  const Image& values = judged.reference_values();
  starts_.take_references(clock, medium_references_.run(clock, values, judged.normalization()));
  coarse_references_.run(clock, values, judged.normalization());
}

// Fits from the transforms in found_, which are in pixels of the frame, and updates them. If a fit
// fails, its transform stays as it is, and the next level starts from it.
void SimilaritySearch::fit_on(StageClock& clock, CoarseLevels& levels, const Image& references,
                              StackFit& fit, const FrameFitLimits& limits) {
  const Affine to_frame = judged_to_frame_ * levels.to_judged();
  const Affine from_frame = to_frame.inverse();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    fit.fits()[i].fail();
    if (!found_[i].found) continue;
    fit.fits()[i].start(from_frame * found_[i].frame_to_reference * to_frame, limits);
  }
  fit.run(clock, levels.normalized(), references, no_means_);
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (!fit.fits()[i].converged()) continue;
    found_[i].frame_to_reference = to_frame * fit.fits()[i].matrix() * from_frame;
  }
}

void SimilaritySearch::fit_frames(StageClock& clock, const Image& frames, FrameLevels& judged) {
  FrameFitLimits limits = frame_limits;
  limits.max_drift = std::max(1.0, max_medium_drift * judged.spacing() * medium_.spacing());
  for (std::size_t i = 0; i < found_.size(); ++i) {
    fit_.fits()[i].fail();
    if (!found_[i].found) continue;
    means_[i] = {judged.grey_of(i).mean, judged.reference_grey(i).mean};
    fit_.fits()[i].start(found_[i].frame_to_reference, limits);
  }
  fit_.run(clock, frames, *references_, means_);
  for (std::size_t i = 0; i < found_.size(); ++i) {
    found_[i].found = fit_.fits()[i].converged();
    found_[i].even_illumination = fit_.has_even_illumination(i);
    if (found_[i].found) found_[i].frame_to_reference = fit_.fits()[i].matrix();
  }
}

std::span<const FrameSimilarity> SimilaritySearch::run(StageClock& clock, const Image& frames,
                                                       FrameLevels& judged, std::size_t count) {
  medium_.run(clock, judged.values(), judged.normalization());
  coarse_.run(clock, judged.values(), judged.normalization());
  const std::span<const StartSearch::Start> starts = starts_.run(clock, medium_.normalized());
  const Affine to_frame = judged_to_frame_ * medium_.to_judged();
  const Affine from_frame = to_frame.inverse();
  std::fill(found_.begin(), found_.end(), FrameSimilarity{});
  for (std::size_t i = 0; i < count; ++i) {
    if (!(starts[i].height > 0) || !judged.is_comparable(i)) continue;
    found_[i].found = true;
    found_[i].found_by = starts[i].found_by;
    found_[i].frame_to_reference = to_frame * starts[i].image_to_reference * from_frame;
  }
  fit_on(clock, coarse_, coarse_references_.normalized(), coarse_fit_, coarse_limits);
  fit_on(clock, medium_, medium_references_.normalized(), medium_fit_, medium_limits);
  fit_frames(clock, frames, judged);
  return std::span<const FrameSimilarity>(found_).first(count);
}

}  // namespace warpalign::detail
