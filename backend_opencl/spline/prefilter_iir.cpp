// The baseline prefilter: one line per work-item, pole by pole and axis by axis.
#include "device/build_options.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/prefilter_passes.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "prefilter";

/// Each pole after the first filters the line, with its margin, in place. Beyond its ends the line
/// then repeats by the boundary rule of the samples, or has become constant (`clamp`, `fill`).
Pass pole_pass(const PassMaker& maker, const Shape& shape, int axis, std::size_t pole, bool first) {
  using backend::Extension;
  const bool in_place = pole > 0 || (maker.details.margin == 0 && !first);
  const bool constant_beyond = pole > 0 && maker.details.extension == Extension::fill;
  const bool last_pole = pole + 1 == maker.details.poles.size();
  const cl_int margin = pole == 0 ? maker.details.margin : 0;
  const std::string options =
      pixel_option(maker.source_type(first)) +
      extension_option(constant_beyond ? Extension::clamp : maker.details.extension) +
      float_option("POLE", maker.details.poles[pole]) +
      int_option("HORIZON", maker.details.horizon) +
      float_option("GAIN", last_pole ? maker.gain_after(axis + 1) : 1) +
      int_option("COMPONENTS", maker.components());
  Kernel kernel(maker.context, stage, kernels::prefilter_iir, "prefilter_iir", options);
  const AxisView view = maker.view(shape, axis);
  const Grid grid = covering(maker.context, view.outer * view.inner);
  const cl_int n = extent(view.n, maker.context.call_site(stage));
  const cl_long outer = view.outer;
  const cl_long inner = view.inner;
  const cl_float cval = maker.cval_after(axis);
  return {[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
            kernel.launch(queue, grid, source, target, outer, n, inner, margin, cval);
          },
          pole == 0 ? maker.with_margin(shape, axis) : shape, in_place};
}

}  // namespace

std::vector<Pass> iir_passes(const PassMaker& maker) {
  std::vector<Pass> passes;
  Shape shape = maker.spec.images.shape;
  for (int axis = 0; axis < maker.spec.images.dimensions; ++axis) {
    for (std::size_t pole = 0; pole < maker.details.poles.size(); ++pole) {
      passes.push_back(pole_pass(maker, shape, axis, pole, passes.empty()));
      shape = passes.back().result;
    }
  }
  return passes;
}

}  // namespace warpalign::opencl
