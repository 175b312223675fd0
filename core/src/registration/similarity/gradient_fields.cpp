// The directions of edges in the levels of two image pyramids, for images of other modalities.
#include "registration/similarity/gradient_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

// Of the smoothed fields' Gaussian, in samples of a level. With less, fits of noise still rest off
// the place; with more, what edges tell exactly is lost.
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

// The field is that of the normalized level: epsilon is then the same fraction of the contrast
// everywhere.
void GradientFields::compute(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                             PyramidLevel& level, const DoubleAnglePlan& plan, double rotation,
                             Channels& values) {
  const Image& normalized = pyramid.normalized(stream, clock, level);
  const Image& weight =
      level.weight() != nullptr ? *level.weight() : ones_.of(stream, level.shape());
  clock.run("double_angle", [&] {
    plan.execute(stream, normalized, weight, DoubleAngleTerms{rotation, {}, 1}, values.cosines,
                 values.sines);
  });
}

GradientFields::OfLevel& GradientFields::of_level(Stream& stream, StageClock& clock,
                                                  ImagePyramid& pyramid, PyramidLevel& level) {
  OfLevel& entry = levels_.get(
      {&pyramid, level.sampling(), level.shape()}, [&] { return OfLevel(device_, level.shape()); },
      [&](const OfLevel& idle) { return idle.values_pair != pair_; });
  if (entry.values_pair != pair_) {
    compute(stream, clock, pyramid, level, entry.plan, 0, entry.values);
    entry.values_pair = pair_;
  }
  return entry;
}

GradientFields::Field GradientFields::of(Stream& stream, StageClock& clock, ImagePyramid& pyramid,
                                         PyramidLevel& level) {
  return of_level(stream, clock, pyramid, level).values.field();
}

GradientFields::Smoothed::Smoothed(const Device& device, const Shape& shape)
    : plan(device, {.shape = shape, .output = shape, .origin = {}, .sigma = sigma}),
      values(device, shape) {}

GradientFields::Field GradientFields::Smoothed::of(Stream& stream, StageClock& clock,
                                                   const Field& field) {
  clock.run("smooth", [&] {
    plan.execute(stream, field.cosines, values.cosines);
    plan.execute(stream, field.sines, values.sines);
  });
  return values.field();
}

GradientFields::Coefficients::Coefficients(const Device& device, const Shape& shape,
                                           FieldDetail detail)
    : prefilter(device, PrefilterSpec{.shape = shape}), values(device, shape) {
  if (detail == FieldDetail::smoothed) smoothed.emplace(device, shape);
}

GradientFields::Field GradientFields::coefficients(Stream& stream, StageClock& clock,
                                                   ImagePyramid& pyramid, PyramidLevel& level,
                                                   FieldDetail detail) {
  OfLevel& entry = of_level(stream, clock, pyramid, level);
  auto& made = entry.coefficients.at(static_cast<std::size_t>(detail));
  if (!made) made.emplace(device_, level.shape(), detail);
  if (made->pair != pair_) {
    const Field whole = entry.values.field();
    const Field field = made->smoothed ? made->smoothed->of(stream, clock, whole) : whole;
    clock.run("prefilter", [&] {
      made->prefilter.execute(stream, field.cosines, made->values.cosines);
      made->prefilter.execute(stream, field.sines, made->values.sines);
    });
    made->pair = pair_;
  }
  return made->values.field();
}

GradientFields::Field GradientFields::turned(Stream& stream, StageClock& clock,
                                             ImagePyramid& pyramid, PyramidLevel& level,
                                             double rotation, FieldDetail detail) {
  const TurnedKey key{level.shape(), turns_++ % turned_at_once};
  Turned& entry = turned_.get(key, [&] {
    return Turned{DoubleAnglePlan(device_, {level.shape()}), Channels(device_, level.shape())};
  });
  compute(stream, clock, pyramid, level, entry.plan, rotation, entry.values);
  if (detail == FieldDetail::whole) return entry.values.field();
  if (!entry.smoothed) entry.smoothed.emplace(device_, level.shape());
  return entry.smoothed->of(stream, clock, entry.values.field());
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
