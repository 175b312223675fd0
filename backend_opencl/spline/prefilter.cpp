// Stage: B-spline coefficients from samples, by a chain of passes.
#include "device/build_options.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "spline/prefilter_passes.hpp"

#include <warpalign/backend/prefilter_recursion.hpp>
#include <warpalign/backend/stages/spline/prefilter.hpp>

#include <algorithm>
#include <cmath>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "prefilter";

std::vector<Pass> make_passes(const PassMaker& maker) {
  const bool streams = !maker.context.has_vectors();
  switch (*maker.spec.spline.prefilter) {
    case PrefilterMethod::fir:
      if (streams && maker.details.fir_taps.size() <= max_streaming_taps) break;
      return fir_passes(maker);
    case PrefilterMethod::iir_line:
      return iir_passes(maker);
    case PrefilterMethod::exact:
      if (streams) break;
      return line_passes(maker);
  }
  return streaming_passes(maker);
}

class Prefilter final : public backend::Prefilter {
 public:
  Prefilter(const PassMaker& maker) : passes_(make_passes(maker)) {
    assign_passes();
    std::size_t scratch_bytes = 0;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      if (to_scratch_[i]) {
        const auto pixels =
            static_cast<std::size_t>(passes_[i].result.pixels() * maker.spec.images.count);
        scratch_bytes = std::max(
            scratch_bytes, pixels * sizeof(float) * static_cast<std::size_t>(maker.components()));
      }
    }
    if (scratch_bytes > 0) scratch_ = make_buffer(maker.context, scratch_bytes, stage);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& samples,
               backend::Memory& coefficients) override {
    const cl_command_queue commands = queue_of(queue);
    if (scratch_.get() != nullptr) scratch_guard_.enter(commands, stage);
    cl_mem source = buffer_of(samples);
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const cl_mem target = to_scratch_[i] ? scratch_.get() : buffer_of(coefficients);
      passes_[i].launch(commands, source, target);
      source = target;
    }
  }

 private:
  /// Chooses the memory of each pass. The last pass writes the coefficients. Earlier passes that
  /// are not in place alternate between the scratch memory and that of the coefficients, which is
  /// large enough for all of them.
  void assign_passes() {
    to_scratch_.assign(passes_.size(), false);
    for (std::size_t i = passes_.size() - 1; i > 0; --i) {
      to_scratch_[i - 1] = passes_[i].in_place ? to_scratch_[i] : !to_scratch_[i];
    }
  }

  std::vector<Pass> passes_;
  std::vector<bool> to_scratch_;
  Handle<cl_mem> scratch_;
  ScratchGuard scratch_guard_;
};

}  // namespace

AxisView PassMaker::view(const Shape& shape, int axis) const {
  const std::int64_t width = shape.width * components();
  switch (axis) {
    case 0:
      return {shape.height * shape.depth * spec.images.count, shape.width, components()};
    case 1:
      return {shape.depth * spec.images.count, shape.height, width};
    default:
      return {spec.images.count, shape.depth, width * shape.height};
  }
}

Shape PassMaker::with_margin(const Shape& shape, int axis) const {
  Shape larger = shape;
  (axis == 0 ? larger.width : axis == 1 ? larger.height : larger.depth) += 2 * details.margin;
  return larger;
}

PixelType PassMaker::source_type(bool first) const { return first ? spec.input : PixelType::f32; }

int PassMaker::halo() const {
  int samples = 0;
  for (const double z : details.poles) {
    samples += static_cast<int>(std::ceil(std::log(0x1p-24) / std::log(std::fabs(z))));
  }
  return samples;
}

double PassMaker::gain_of(int axes) const {
  return std::pow(backend::recursion_gain(details.poles), axes);
}

double PassMaker::gain_after(int axes) const {
  return axes == spec.images.dimensions ? gain_of(axes) : 1;
}

cl_float PassMaker::cval_after(int axes) const {
  return static_cast<cl_float>(spec.spline.cval / gain_of(axes));
}

std::string PassMaker::recursion_options() const {
  std::string options =
      extension_option(details.extension) + float_option("POLE_0", details.poles.front());
  if (details.poles.size() > 1)
    options += " -D TWO_POLES" + float_option("POLE_1", details.poles[1]);
  return options;
}

template <>
std::unique_ptr<backend::Prefilter> make(Context& context, const backend::Prefilter::Setup& setup) {
  const auto& [spec, details] = setup;
  return std::make_unique<Prefilter>(PassMaker{context, spec, details});
}

}  // namespace warpalign::opencl
