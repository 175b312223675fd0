// Gradient orientation fields of pyramid levels, for images of different modalities.
#include "registration/signal/gradient_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

// The sigma of the smoothed fields, in samples of a level. With less smoothing, fits of noisy
// images get stuck beside the optimum; with more, the fit loses accuracy at edges.
constexpr double sigma = 1;

GradientFields::Statistics statistics_of(const DirectionSums& sums) {
  if (!(sums.pixels > 0)) return {};
  const Point mean{sums.cosines / sums.pixels, sums.sines / sums.pixels};
  return {mean, sums.squares / sums.pixels - mean.x * mean.x - mean.y * mean.y};
}

}  // namespace

GradientFields::Channels::Channels(const Device& device, const Shape& shape)
    : cosines(device.make_image(PixelType::f32, shape)),
      sines(device.make_image(PixelType::f32, shape)) {}

// Computes the field from the normalized level, so that epsilon is the same fraction of the
// contrast everywhere.
GradientFields::OfLevel& GradientFields::of_level(Stream& stream, StageClock& clock,
                                                  ImagePyramid& pyramid, PyramidLevel& level) {
  OfLevel& entry = levels_.get(
      {&pyramid, level.sampling(), level.shape()}, [&] { return OfLevel(device_, level.shape()); },
      [&](const OfLevel& idle) { return idle.values_pair != pair_; });
  if (entry.values_pair == pair_) return entry;
  const Image& normalized = pyramid.normalized(stream, clock, level);
  const Image& weight =
      level.weight() != nullptr ? *level.weight() : unit_weights_.of(stream, level.shape());
  clock.run("double_angle", [&] {
    entry.plan.execute(stream, normalized, weight, DoubleAngleTerms{}, entry.values.cosines,
                       entry.values.sines);
  });
  entry.values_pair = pair_;
  return entry;
}

GradientFields::Field GradientFields::of(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                                         PyramidLevel& level) {
  return of_level(stream, clock, pyramid, level).values.field();
}

GradientFields::Smoothed::Smoothed(const Device& device, const Shape& shape)
    : plan(device, {.shape = shape, .output = shape, .origin = {}, .sigma = sigma}),
      values(device, shape) {}

GradientFields::Field GradientFields::detailed(Stream& stream, StageClock& clock, OfLevel& entry,
                                               FieldDetail detail) {
  const Field whole = entry.values.field();
  if (detail == FieldDetail::whole) return whole;
  if (!entry.smoothed) entry.smoothed.emplace(device_, whole.cosines.shape());
  Smoothed& smoothed = *entry.smoothed;
  if (smoothed.pair != pair_) {
    clock.run("smooth", [&] {
      smoothed.plan.execute(stream, whole.cosines, smoothed.values.cosines);
      smoothed.plan.execute(stream, whole.sines, smoothed.values.sines);
    });
    smoothed.pair = pair_;
  }
  return smoothed.values.field();
}

GradientFields::Coefficients::Coefficients(const Device& device, const Shape& shape)
    : prefilter(device, PrefilterSpec{.images = {.shape = shape}}), values(device, shape) {}

GradientFields::Field GradientFields::coefficients(Stream& stream, StageClock& clock,
                                                   ImagePyramid& pyramid, PyramidLevel& level,
                                                   FieldDetail detail) {
  OfLevel& entry = of_level(stream, clock, pyramid, level);
  auto& made = entry.coefficients.at(static_cast<std::size_t>(detail));
  if (!made) made.emplace(device_, level.shape());
  if (made->pair != pair_) {
    const Field field = detailed(stream, clock, entry, detail);
    clock.run("prefilter", [&] {
      made->prefilter.execute(stream, field.cosines, made->values.cosines);
      made->prefilter.execute(stream, field.sines, made->values.sines);
    });
    made->pair = pair_;
  }
  return made->values.field();
}

// Rotates the smoothed field, so that a level is smoothed once for all rotations.
GradientFields::Field GradientFields::turned(Stream& stream, StageClock& clock,
                                             ImagePyramid& pyramid, PyramidLevel& level,
                                             double rotation, FieldDetail detail) {
  const Field field = detailed(stream, clock, of_level(stream, clock, pyramid, level), detail);
  const RotatedKey key{level.shape(), num_rotations_++ % max_rotated_fields};
  Rotated& entry = rotated_.get(key, [&] {
    return Rotated{DoubleAnglePlan(device_, {level.shape()}), Channels(device_, level.shape())};
  });
  clock.run("double_angle", [&] {
    entry.plan.turn(stream, field.cosines, field.sines, rotation, entry.values.cosines,
                    entry.values.sines);
  });
  return entry.values.field();
}

void GradientFields::measure(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                             PyramidLevel& level) {
  measure(stream, clock, of_level(stream, clock, pyramid, level));
}

void GradientFields::measure(Stream& stream, StageClock& clock, OfLevel& entry) {
  const bool on_its_way = std::find(measured_.begin(), measured_.end(), &entry) != measured_.end();
  if (on_its_way || entry.statistics_pair == pair_) return;
  if (!sums_) {
    measured_.reserve(max_searched_levels);
    sums_.emplace(device_, DirectionSumsSpec{max_searched_levels});
  }
  if (measured_.size() == max_searched_levels) take_measured(stream);
  clock.run("direction_sums", [&] {
    sums_->enqueue(stream, entry.values.cosines, entry.values.sines,
                   static_cast<std::int64_t>(measured_.size()));
  });
  measured_.push_back(&entry);
}

void GradientFields::take_measured(Stream& stream) {
  sums_->enqueue_copy(stream);
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    measured_[i]->statistics = statistics_of(sums_->wait(static_cast<std::int64_t>(i)));
    measured_[i]->statistics_pair = pair_;
  }
  measured_.clear();
}

const GradientFields::Statistics& GradientFields::statistics(Stream& stream, StageClock& clock,
                                                             ImagePyramid& pyramid,
                                                             PyramidLevel& level) {
  OfLevel& entry = of_level(stream, clock, pyramid, level);
  measure(stream, clock, entry);
  if (entry.statistics_pair != pair_) take_measured(stream);
  return entry.statistics;
}

}  // namespace warpalign::detail
