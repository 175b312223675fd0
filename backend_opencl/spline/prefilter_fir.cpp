// The prefilter as a truncated convolution, axis by axis.
#include "device/build_options.hpp"
#include "device/constants.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/prefilter_passes.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "prefilter";

/// The taps b(0) ... b(K), in constant memory.
Handle<cl_mem> make_taps(const PassMaker& maker) {
  const std::vector<double>& taps = maker.details.fir_taps;
  const std::vector<cl_float> half(taps.begin() + static_cast<std::ptrdiff_t>(taps.size() / 2),
                                   taps.end());
  return upload_floats(maker.context, half, stage);
}

Pass fir_pass(const PassMaker& maker, const Handle<cl_mem>& taps, const Shape& shape, int axis,
              bool first) {
  const int vector = maker.context.is_cpu() ? 16 : 1;
  const std::string options =
      pixel_option(maker.source_type(first)) + extension_option(maker.details.extension) +
      int_option("REACH", static_cast<int>(maker.details.fir_taps.size() / 2)) +
      int_option("VECTOR", vector) + int_option("COMPONENTS", maker.components());
  Kernel kernel(maker.context, stage, kernels::prefilter_fir,
                axis == 0 ? "prefilter_fir_rows" : "prefilter_fir_columns", options);
  const AxisView view = maker.view(shape, axis);
  const cl_int n = extent(view.n, maker.context.call_site(stage));
  const cl_int margin = maker.details.margin;
  const std::int64_t out = view.n + 2 * margin;
  const std::int64_t floats = axis == 0 ? out * view.inner : view.inner;
  const std::int64_t rows = axis == 0 ? view.outer : view.outer * out;
  const Grid grid = patches(maker.context, (floats + vector - 1) / vector, rows);
  const cl_long outer = view.outer;
  const cl_long inner = view.inner;
  const auto cval = static_cast<cl_float>(maker.spec.spline.cval);
  return {[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
            kernel.launch(queue, grid, source, target, outer, n, inner, margin, cval, taps);
          },
          maker.with_margin(shape, axis)};
}

}  // namespace

std::vector<Pass> fir_passes(const PassMaker& maker) {
  const Handle<cl_mem> taps = make_taps(maker);
  std::vector<Pass> passes;
  Shape shape = maker.spec.images.shape;
  for (int axis = 0; axis < maker.spec.images.dimensions; ++axis) {
    passes.push_back(fir_pass(maker, taps, shape, axis, passes.empty()));
    shape = passes.back().result;
  }
  return passes;
}

}  // namespace warpalign::opencl
