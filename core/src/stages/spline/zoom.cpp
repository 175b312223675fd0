// Stage: zoom along the axes, without aliasing where they shrink.
#include <warpalign/stages/zoom.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spline/details.hpp"
#include "stages/spline/zoom_weights.hpp"

#include <warpalign/backend/stages/filter/weighted_sums.hpp>
#include <warpalign/stages/convert.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* zoom_stage = "zoom";

std::array<std::int64_t, 3> extents_of_zoom(const Shape& shape) {
  return {shape.width, shape.height, shape.depth};
}

detail::ZoomAxis axis_of(const ZoomSpec& spec, std::size_t axis) {
  return {.n_input = extents_of_zoom(spec.images.shape)[axis],
          .n_output = extents_of_zoom(spec.output)[axis],
          .align_edges = spec.align_edges,
          .degree = spec.spline.degree,
          .prefilter = spec.spline.prefilter.has_value() && spec.spline.degree > 1,
          .boundary = spec.spline.boundary,
          .cval = spec.spline.cval,
          .in_double = spec.in_double};
}

/// The axes that change, the one that shrinks most first. Sums across rows are the fastest, so z
/// comes before y and x.
std::vector<std::size_t> axes_in_order(const ZoomSpec& spec) {
  std::vector<std::size_t> axes;
  for (std::size_t axis = static_cast<std::size_t>(spec.images.dimensions); axis-- > 0;) {
    if (axis_of(spec, axis).is_changed()) axes.push_back(axis);
  }
  std::ranges::stable_sort(axes, std::greater{},
                           [&](std::size_t axis) { return axis_of(spec, axis).step(); });
  return axes;
}

bool is_projected(const ZoomSpec& spec, std::size_t axis) {
  return spec.antialias == Antialias::least_squares && axis_of(spec, axis).step() > 1;
}

Shape all_zoomed(const ZoomSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

void check_model(const SplineModel& spline) {
  detail::check_degree(zoom_stage, spline.degree, 1);
  detail::check_cval(zoom_stage, spline.cval);
  if (spline.prefilter && *spline.prefilter != PrefilterMethod::exact) {
    detail::refuse(zoom_stage, "the prefilter must be the exact one");
  }
  if (spline.precision != Precision::full) {
    detail::refuse(zoom_stage, "the precision must be full");
  }
}

ZoomSpec checked(const Device& device, const ZoomSpec& spec) {
  check_model(spec.spline);
  detail::check_shapes(zoom_stage, spec.images, spec.output);
  detail::check_batch(zoom_stage, "the batch of images", spec.images);
  detail::check_batch(zoom_stage, "the batch of outputs",
                      {spec.output, spec.images.dimensions, spec.images.count});
  if ((spec.input == PixelType::c32) != (spec.output_type == PixelType::c32)) {
    detail::refuse(zoom_stage, "images and output must both be complex or both be real");
  }
  if (spec.in_double && spec.input == PixelType::c32) {
    detail::refuse(zoom_stage, "double precision needs real images");
  }
  if (spec.in_double && !device.info().double_precision) {
    detail::refuse(zoom_stage,
                   "the device " + device.info().id + " does not support double precision");
  }
  for (const std::size_t axis : axes_in_order(spec)) {
    if (!is_projected(spec, axis) || detail::is_projectable(axis_of(spec, axis))) continue;
    if (axis_of(spec, axis).n_output == 1) {
      detail::refuse(zoom_stage,
                     "least squares needs an output of at least two samples along an axis that "
                     "shrinks, unless edges are aligned");
    }
    detail::refuse(zoom_stage, std::string("least squares does not support the boundary mode ") +
                                   name_of(spec.spline.boundary) +
                                   (spec.align_edges ? " with" : " without") +
                                   " aligned edges; use " +
                                   (spec.align_edges ? "reflect or grid-wrap" : "mirror"));
  }
  return spec;
}

struct ZoomPass {
  WeightedSumsSpec spec;
  detail::AxisSums sums;
};

/// The numbers before and after an axis, in memory order.
WeightedSumsSpec lines_along(const ZoomSpec& spec, const std::array<std::int64_t, 3>& extents,
                             std::size_t axis) {
  WeightedSumsSpec lines;
  lines.in_double = spec.in_double;
  lines.outer = spec.images.count;
  lines.inner = spec.input == PixelType::c32 ? 2 : 1;
  for (std::size_t other = 0; other < extents.size(); ++other) {
    if (other < axis) lines.inner *= extents[other];
    if (other > axis) lines.outer *= extents[other];
  }
  return lines;
}

std::vector<ZoomPass> passes_of(const ZoomSpec& spec) {
  std::vector<ZoomPass> passes;
  std::array<std::int64_t, 3> extents = extents_of_zoom(spec.images.shape);
  for (const std::size_t axis : axes_in_order(spec)) {
    const detail::ZoomAxis zoomed = axis_of(spec, axis);
    std::vector<detail::AxisSums> sums;
    if (is_projected(spec, axis)) {
      sums = detail::least_squares_zoom(zoomed);
    } else {
      sums.push_back(detail::gaussian_zoom(zoomed));
    }
    WeightedSumsSpec lines = lines_along(spec, extents, axis);
    for (detail::AxisSums& one : sums) {
      lines.n_input = one.n_input;
      lines.n_output = one.n_output;
      passes.push_back({lines, std::move(one)});
    }
    extents[axis] = zoomed.n_output;
  }
  return passes;
}

std::size_t output_bytes(const WeightedSumsSpec& spec) {
  return static_cast<std::size_t>(spec.outer * spec.n_output * spec.inner) *
         (spec.in_double ? sizeof(double) : sizeof(float));
}

/// The sizes of the results between the passes, which use two buffers in turn.
template <class Passes>
std::array<std::size_t, 2> between_bytes(const Passes& passes) {
  std::array<std::size_t, 2> bytes{};
  for (std::size_t i = 0; i + 1 < passes.size(); ++i) {
    bytes[i % 2] = std::max(bytes[i % 2], output_bytes(passes[i].spec));
  }
  return bytes;
}

PixelType summed_type(const ZoomSpec& spec, PixelType type) {
  if (spec.in_double) return PixelType::f64;
  return type == PixelType::c32 ? type : PixelType::f32;
}

/// The converter between a type and that of the sums, or null if they are the same.
std::shared_ptr<ConvertPlan> converter_of(const Device& device, const ZoomSpec& spec,
                                          const Shape& shape, PixelType from, PixelType to) {
  if (from == to) return nullptr;
  return std::make_shared<ConvertPlan>(device, ConvertSpec{shape, from, to, spec.in_double});
}

}  // namespace

const char* name_of(Antialias method) noexcept {
  return method == Antialias::gaussian ? "gaussian" : "least-squares";
}

Antialias antialias_of_name(const std::string& name) {
  for (const Antialias method : {Antialias::gaussian, Antialias::least_squares}) {
    if (name == name_of(method)) return method;
  }
  throw Error(ErrorKind::invalid_argument,
              "'" + name + "' is not a method against aliasing; known: gaussian, least-squares");
}

ZoomPlan::ZoomPlan(const Device& device, const ZoomSpec& spec)
    : device_(device), spec_(checked(device, spec)) {
  std::vector<ZoomPass> passes = passes_of(spec_);
  auto plans = std::make_shared<std::vector<WeightedSumsPlan>>();
  for (const ZoomPass& pass : passes) {
    plans->emplace_back(device, pass.spec, pass.sums.taps, pass.sums.first, pass.sums.weights,
                        pass.sums.added);
  }
  passes_ = std::move(plans);
  for (const std::size_t bytes : between_bytes(passes)) {
    if (bytes > 0) between_.push_back(device.make_buffer(bytes));
  }
  const PixelType input = summed_type(spec, spec.input);
  const PixelType output = summed_type(spec, spec.output_type);
  load_ = converter_of(device, spec, spec.images.stacked(), spec.input, input);
  store_ = converter_of(device, spec, all_zoomed(spec), output, spec.output_type);
  if (load_) loaded_ = device.make_image(input, spec.images.stacked());
  if (store_) sums_ = device.make_image(output, all_zoomed(spec));
}

void ZoomPlan::execute(Stream& stream, const Image& image, Image& output) {
  detail::check_stream(zoom_stage, device_, stream);
  detail::check_image(zoom_stage, "the image", device_, image, spec_.input, spec_.images.stacked());
  detail::check_image(zoom_stage, "the output", device_, output, spec_.output_type,
                      all_zoomed(spec_));
  detail::check_distinct(zoom_stage, image, output);
  if (load_) load_->execute(stream, image, *loaded_);
  const Image& samples = load_ ? *loaded_ : image;
  Image& sums = store_ ? *sums_ : output;
  const Buffer* from = &samples.buffer();
  for (std::size_t i = 0; i < passes_->size(); ++i) {
    Buffer* to = i + 1 == passes_->size() ? &sums.buffer() : &between_[i % 2];
    (*passes_)[i].execute(stream, *from, *to);
    from = to;
  }
  if (passes_->empty()) stream.copy(samples.buffer(), sums.buffer());
  if (store_) store_->execute(stream, sums, output);
}

std::size_t ZoomPlan::scratch_bytes(const ZoomSpec& spec) {
  std::array<std::int64_t, 3> extents = extents_of_zoom(spec.images.shape);
  const auto bytes_of = [&] {
    return static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * spec.images.count) *
           size_of(summed_type(spec, spec.input));
  };
  std::size_t bytes = summed_type(spec, spec.input) != spec.input ? bytes_of() : 0;
  for (const std::size_t axis : axes_in_order(spec)) {
    extents[axis] = extents_of_zoom(spec.output)[axis];
    bytes += bytes_of() * (is_projected(spec, axis) ? 2 : 1);
  }
  return bytes;
}

}  // namespace warpalign
