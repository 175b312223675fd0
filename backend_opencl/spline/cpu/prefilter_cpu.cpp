// The exact prefilter on CPUs: sixteen lines at a time, columns first, then rows.
#include "device/build_options.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "spline/prefilter_passes.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/spline/prefilter.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "prefilter";

/// The samples of a segment with both halos: enough to make the halos cheap, few enough for the L1
/// and L2 caches.
constexpr int segment_with_halos = 256;
constexpr std::int64_t lanes = 16;

Pass line_pass(const PassMaker& maker, const Shape& shape, int axis, bool first) {
  const int halo = maker.halo();
  const int axes_before = maker.spec.images.dimensions - 1 - axis;
  const int segment = segment_with_halos - 2 * halo;
  const AxisView view = maker.view(shape, axis);
  const std::string options = pixel_option(maker.source_type(first)) + maker.recursion_options() +
                              int_option("HALO", halo) + int_option("SEGMENT", segment) +
                              int_option("COMPONENTS", maker.components());
  Kernel kernel(maker.context, stage, kernels::prefilter_cpu,
                axis == 0 ? "prefilter_rows" : "prefilter_columns", options);
  const CallSite site = maker.context.call_site(stage);
  const cl_int n = extent(view.n, site);
  const cl_int margin = maker.details.margin;
  const std::int64_t segments = (view.n + 2 * margin + segment - 1) / segment;
  const auto groups = [](std::int64_t items, std::int64_t size) {
    return static_cast<std::size_t>((items + size - 1) / size);
  };
  Grid grid{{groups(segments, 1), groups(view.outer * view.inner, lanes)}, {1, 1}};
  if (axis != 0) {
    grid.items = {groups(view.inner, lanes * WA_PREFILTER_VECTORS),
                  static_cast<std::size_t>(extent(segments * view.outer, site))};
  }
  const cl_long outer = view.outer;
  const cl_long inner = view.inner;
  const cl_float cval = maker.cval_after(axes_before);
  const auto gain = static_cast<cl_float>(maker.gain_after(axes_before + 1));
  return {[=](cl_command_queue queue, cl_mem source, cl_mem target) mutable {
            kernel.launch(queue, grid, source, target, outer, n, inner, margin, cval, gain);
          },
          maker.with_margin(shape, axis)};
}

}  // namespace

std::vector<Pass> line_passes(const PassMaker& maker) {
  std::vector<Pass> passes;
  Shape shape = maker.spec.images.shape;
  for (int axis = maker.spec.images.dimensions - 1; axis >= 0; --axis) {
    passes.push_back(line_pass(maker, shape, axis, passes.empty()));
    shape = passes.back().result;
  }
  return passes;
}

}  // namespace warpalign::opencl
