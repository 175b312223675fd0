// Scores the shifts of a batch of frames: the correlation with the reference and its significance.
#include "registration/frames/frame_scorer.hpp"

#include "registration/frames/frame_stack.hpp"
#include "registration/local/windows/window_fit.hpp"
#include "registration/numerics/confidence.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The limit below which ImagePyramid refuses images.
constexpr double min_contrast = 1e-6;
// The local normalization does not amplify contrasts below a floor, which follows from the
// reference's contrast. For frames within this factor of that contrast, the choice of the floor
// makes no notable difference.
constexpr double max_contrast_ratio = 2;

bool has_contrast(const IntensityStatistics& levels) {
  return std::isfinite(levels.mean) && levels.deviation > min_contrast * std::abs(levels.mean) &&
         !is_extreme(levels);
}

// Rows of a level that one work-group sums.
constexpr std::int64_t rows_of_part = 32;

int parts_of(const Shape& level) {
  return static_cast<int>((level.height + rows_of_part - 1) / rows_of_part);
}

/// The number of samples along an axis whose position, shifted by `shift`, has a neighbour on
/// either side.
double overlapping_samples(std::int64_t n, double shift) {
  const double first = std::max(0.0, std::ceil(1 - shift));
  const double last =
      std::min(static_cast<double>(n - 1), std::floor(static_cast<double>(n - 2) - shift));
  return std::max(last - first + 1, 0.0);
}

WindowOrigin nearest(const Point& shift) {
  return {static_cast<std::int32_t>(std::lround(shift.x)),
          static_cast<std::int32_t>(std::lround(shift.y))};
}

}  // namespace

ScoringLevels::ScoringLevels(const Device& device, const Shape& image, std::int64_t images)
    : sampling_{measured_spacing(image)},
      level_(level_shape(image, sampling_)),
      smooth_(device, stack_of(level_smoothing(PixelType::f32, image, false, sampling_), images)),
      normalization_(device, {level_, contrast_sigma, false, images}),
      prefilter_(device, {.images = {.shape = level_, .count = images}}),
      values_(device.make_image(PixelType::f32, stacked(level_, 2, images))),
      normalized_(device.make_image(PixelType::f32, values_.shape())),
      coefficients_(device.make_image(PixelType::f32, values_.shape())),
      on_host_(device, static_cast<std::size_t>(values_.shape().pixels())) {}

void ScoringLevels::enqueue(StageClock& clock, const Image& images) {
  Stream& stream = clock.stream();
  clock.run("levels", [&] { smooth_.execute(stream, images, values_); });
  if (is_fetching_) static_cast<void>(on_host_.wait());  // an earlier call failed before it waited
  clock.run("levels to the host", [&] { on_host_.enqueue(stream, values_.buffer()); });
  is_fetching_ = true;
}

std::span<const float> ScoringLevels::values_of(std::size_t image) {
  if (is_fetching_) fetched_ = on_host_.wait();
  is_fetching_ = false;
  const auto pixels = static_cast<std::size_t>(level_.plane());
  return fetched_.subspan(image * pixels, pixels);
}

IntensityStatistics ScoringLevels::grey_levels_of(std::size_t image) {
  return intensity_statistics(values_of(image));
}

bool ScoringLevels::has_border(std::size_t image, const IntensityStatistics& levels) {
  return border_search_
      .content({level_.width, level_.height, values_of(image), levels.minimum, levels.maximum},
               border_margin)
      .has_value();
}

const Image& ScoringLevels::coefficients(StageClock& clock, const IntensityStatistics& as) {
  Stream& stream = clock.stream();
  clock.run("local normalization", [&] {
    normalization_.execute(stream, values_, static_cast<float>(as.mean),
                           static_cast<float>(contrast_floor * as.deviation), normalized_);
  });
  clock.run("prefilter", [&] { prefilter_.execute(stream, normalized_, coefficients_); });
  return coefficients_;
}

FrameLevels::FrameLevels(const Device& device, const Shape& frame, std::int64_t frames)
    : reference_levels_(device, frame, 1),
      levels_(device, frame, frames),
      self_similarity_(device, levels_.shape()),
      inspections_(static_cast<std::size_t>(frames)) {}

bool FrameLevels::take_reference(StageClock& clock, const Image& pixels) {
  reference_ = nullptr;
  reference_levels_.enqueue(clock, pixels);
  reference_grey_ = reference_levels_.grey_levels_of(0);
  if (!has_contrast(reference_grey_) || reference_levels_.has_border(0, reference_grey_)) {
    return false;
  }
  reference_ = &reference_levels_.coefficients(clock, reference_grey_);
  self_similarity_.enqueue(clock, reference_levels_.normalized());
  return true;
}

double FrameLevels::other_shift_ratio(double correlation) {
  return correlation > 0 ? self_similarity_.coefficient() / correlation : 0;
}

const Image& FrameLevels::take(StageClock& clock, const Image& frames) {
  std::fill(inspections_.begin(), inspections_.end(), std::nullopt);
  levels_.enqueue(clock, frames);
  return levels_.coefficients(clock, reference_grey_);
}

const FrameLevels::Inspection& FrameLevels::inspection_of(std::size_t frame) {
  std::optional<Inspection>& inspection = inspections_[frame];
  if (inspection) return *inspection;
  const IntensityStatistics levels = levels_.grey_levels_of(frame);
  const double ratio = levels.deviation / reference_grey_.deviation;
  const bool similar_contrast = ratio <= max_contrast_ratio && ratio >= 1 / max_contrast_ratio;
  return inspection.emplace(Inspection{
      has_contrast(levels) && similar_contrast && !levels_.has_border(frame, levels), levels.mean});
}

FrameScorer::FrameScorer(const Device& device, const Shape& frame, std::int64_t frames)
    : frame_(frame),
      judged_(device, frame, frames),
      sums_(device, {judged_.shape(), 1, frames, parts_of(judged_.shape())}),
      no_means_(device.make_buffer(static_cast<std::size_t>(frames) * sizeof(float))),
      states_(static_cast<std::size_t>(frames)),
      results_(states_.size()),
      judgements_(states_.size()) {
  const std::vector<float> zeros(states_.size());
  Stream stream = device.make_stream();
  stream.upload(zeros.data(), zeros.size() * sizeof(float), no_means_);
  stream.finish();
}

// Passes spline coefficients instead of samples, so that the kernel evaluates interpolated images
// rather than smoothed ones.
std::span<const FrameScore> FrameScorer::run(StageClock& clock, const Image& frames,
                                             std::span<const Point> shifts) {
  const Image& coefficients = judged_.take(clock, frames);
  std::fill(states_.begin(), states_.end(), ShiftState{});
  const Shape& level = judged_.shape();
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    judgements_[i] = {};
    judgements_[i].ordinary = judged_.is_comparable(i);
    if (!judgements_[i].ordinary) continue;
    const Point shift{shifts[i].x / judged_.spacing(), shifts[i].y / judged_.spacing()};
    states_[i] = state_at(level, level, {}, nearest(shift), shift);
    states_[i].active = 1;
  }
  Stream& stream = clock.stream();
  clock.run("judgement", [&] {
    sums_.enqueue(stream, coefficients, judged_.reference(), no_means_, no_means_, states_);
  });
  sums_.fetch(stream, states_, results_);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (states_[i].active != 0) describe(results_[i], shifts[i], judgements_[i]);
  }
  return std::span<const FrameScore>(judgements_).first(shifts.size());
}

void FrameScorer::describe(const ShiftSums& s, const Point& shift, FrameScore& judgement) {
  const double frame = s.mm - s.m * s.m / s.weight;
  const double reference = s.rr - s.r * s.r / s.weight;
  if (!(frame > 0) || !(reference > 0)) return;
  judgement.correlation = (s.rm - s.r * s.m / s.weight) / std::sqrt(reference * frame);
  const double independent = s.pixels * (s.mx_mx + s.my_my) / frame;
  judgement.significance = significance_of(judgement.correlation, independent);
  judgement.other_shift_ratio = judged_.other_shift_ratio(judgement.correlation);
  const Shape& level = judged_.shape();
  const double spacing = judged_.spacing();
  const double area = spacing * spacing * overlapping_samples(level.width, shift.x / spacing) *
                      overlapping_samples(level.height, shift.y / spacing);
  judgement.overlap = std::min(1.0, area / static_cast<double>(frame_.plane()));
}

}  // namespace warpalign::detail
