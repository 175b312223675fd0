// Scores the shifts of a batch of frames: the correlation with the reference and its significance.
#include "registration/frames/frame_scorer.hpp"

#include "registration/frames/frame_stack.hpp"
#include "registration/local/windows/window_fit.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/pyramid/border.hpp"

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

ScoringLevels::ScoringLevels(const Device& device, const Shape& image, std::int64_t images,
                             bool by_image)
    : sampling_{measured_spacing(image)},
      level_(level_shape(image, sampling_)),
      smooth_(device, stack_of(level_smoothing(PixelType::f32, image, false, sampling_), images)),
      normalization_(device, {level_, contrast_sigma, false, images, by_image}),
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
  if (is_fetching_) {
    fetched_ = on_host_.wait();
    is_fetching_ = false;
  }
  const auto pixels = static_cast<std::size_t>(level_.plane());
  return fetched_.subspan(image * pixels, pixels);
}

std::span<const LevelInspection> ScoringLevels::inspect(std::size_t count, ParallelFor* loop) {
  if (count > 0) static_cast<void>(values_of(0));  // waits
  inspections_.resize(count);
  const auto inspect_some = [this](std::size_t first, std::size_t end) {
    BorderSearch border_search;
    for (std::size_t i = first; i < end; ++i) {
      const std::span<const float> values = values_of(i);
      const IntensityStatistics grey = intensity_statistics(values);
      const auto content = border_search.content(
          {level_.width, level_.height, values, grey.minimum, grey.maximum}, border_margin);
      inspections_[i] = {grey, content.has_value()};
    }
  };
  if (loop != nullptr) {
    loop->run(0, count, inspect_some);
  } else {
    inspect_some(0, count);
  }
  return inspections_;
}

const Image& ScoringLevels::coefficients(StageClock& clock,
                                         std::span<const LocalLevels> normalization) {
  Stream& stream = clock.stream();
  clock.run("local normalization",
            [&] { normalize(stream, normalization_, values_, normalization, normalized_); });
  clock.run("prefilter", [&] { prefilter_.execute(stream, normalized_, coefficients_); });
  return coefficients_;
}

FrameLevels::FrameLevels(const Device& device, const Shape& frame, std::int64_t frames,
                         std::int64_t references, ParallelFor* loop)
    : reference_levels_(device, frame, references, references > 1),
      levels_(device, frame, frames, references > 1),
      reference_grey_(count_of(references)),
      normalization_(reference_grey_.size()),
      usable_(reference_grey_.size()),
      self_similarity_(device, levels_.shape(), references),
      loop_(loop) {}

void FrameLevels::take_references(StageClock& clock, const Image& pixels, std::size_t count) {
  std::fill(usable_.begin(), usable_.end(), 0);
  std::fill(normalization_.begin(), normalization_.end(), LocalLevels{});
  reference_levels_.enqueue(clock, pixels);
  const std::span<const LevelInspection> seen = reference_levels_.inspect(count, loop_);
  for (std::size_t i = 0; i < count; ++i) {
    const IntensityStatistics& grey = seen[i].grey;
    if (!has_contrast(grey) || seen[i].has_border) continue;
    reference_grey_[i] = grey;
    normalization_[i] = local_levels_of(grey);
    usable_[i] = 1;
  }
  references_ = &reference_levels_.coefficients(clock, normalization_);
  self_similarity_.enqueue(clock, reference_levels_.normalized());
}

double FrameLevels::other_shift_ratio(std::size_t frame, double correlation) {
  if (!(correlation > 0)) return 0;
  return self_similarity_.coefficient(reference_of(frame)) / correlation;
}

const Image& FrameLevels::take(StageClock& clock, const Image& frames, std::size_t count) {
  frames_ = count;
  inspections_ = {};
  levels_.enqueue(clock, frames);
  return levels_.coefficients(clock, normalization_);
}

const LevelInspection& FrameLevels::inspection_of(std::size_t frame) {
  if (inspections_.empty()) inspections_ = levels_.inspect(frames_, loop_);
  return inspections_[frame];
}

bool FrameLevels::is_comparable(std::size_t frame) {
  if (!has_usable_reference(frame)) return false;
  const auto& [grey, has_border] = inspection_of(frame);
  const double ratio = grey.deviation / reference_grey(frame).deviation;
  const bool similar_contrast = ratio <= max_contrast_ratio && ratio >= 1 / max_contrast_ratio;
  return has_contrast(grey) && similar_contrast && !has_border;
}

FrameScorer::FrameScorer(const Device& device, const Shape& frame, std::int64_t frames,
                         ParallelFor* loop)
    : frame_(frame),
      judged_(device, frame, frames, 1, loop),
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
  const Image& coefficients = judged_.take(clock, frames, shifts.size());
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
    sums_.enqueue(stream, coefficients, judged_.references(), no_means_, no_means_, states_);
  });
  sums_.fetch(stream, states_, results_);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (states_[i].active != 0) describe(i, results_[i], shifts[i]);
  }
  return std::span<const FrameScore>(judgements_).first(shifts.size());
}

void FrameScorer::describe(std::size_t frame, const ShiftSums& s, const Point& shift) {
  FrameScore& judgement = judgements_[frame];
  const double moving = s.mm - s.m * s.m / s.weight;
  const double reference = s.rr - s.r * s.r / s.weight;
  if (!(moving > 0) || !(reference > 0)) return;
  judgement.correlation = (s.rm - s.r * s.m / s.weight) / std::sqrt(reference * moving);
  const double independent = s.pixels * (s.mx_mx + s.my_my) / moving;
  judgement.significance = significance_of(judgement.correlation, independent);
  judgement.other_shift_ratio = judged_.other_shift_ratio(frame, judgement.correlation);
  const Shape& level = judged_.shape();
  const double spacing = judged_.spacing();
  const double area = spacing * spacing * overlapping_samples(level.width, shift.x / spacing) *
                      overlapping_samples(level.height, shift.y / spacing);
  judgement.overlap = std::min(1.0, area / static_cast<double>(frame_.plane()));
}

}  // namespace warpalign::detail
