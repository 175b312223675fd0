// The directions of edges in the levels of two image pyramids, for images of other modalities.
#include "registration/similarity/gradient_fields.hpp"

#include "registration/lanes.hpp"
#include "registration/similarity/host_copy.hpp"

#include <cstddef>

namespace warpalign::detail {

namespace {

// Of the smoothed fields' Gaussian, in samples of a level. With less, fits of noise still rest off
// the place; with more, what edges tell exactly is lost.
constexpr double sigma = 1;

GradientFields::Statistics statistics_of(const std::vector<float>& cosines,
                                         const std::vector<float>& sines) {
  Lanes cosine{}, sine{}, squares{}, pixels{};
  for_each_in_lanes(cosines.size(), [&](std::size_t i, std::size_t lane) {
    const double c = cosines[i];
    const double s = sines[i];
    const double square = c * c + s * s;
    cosine[lane] += c;
    sine[lane] += s;
    squares[lane] += square;
    pixels[lane] += square > 0 ? 1.0 : 0.0;
  });
  const double counted = total(pixels);
  if (!(counted > 0)) return {};
  const Point mean{total(cosine) / counted, total(sine) / counted};
  return {mean, total(squares) / counted - mean.x * mean.x - mean.y * mean.y};
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

const GradientFields::Statistics& GradientFields::statistics(Stream& stream, StageClock& clock,
                                                             ImagePyramid& pyramid,
                                                             PyramidLevel& level) {
  OfLevel& entry = of_level(stream, clock, pyramid, level);
  if (entry.statistics_pair != pair_) {
    copy_to_host(stream, entry.values.cosines, cosines_);
    copy_to_host(stream, entry.values.sines, sines_);
    entry.statistics = statistics_of(cosines_, sines_);
    entry.statistics_pair = pair_;
  }
  return entry.statistics;
}

}  // namespace warpalign::detail
