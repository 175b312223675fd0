// Stage: a spline at the points of a displacement field, which the kernel samples.
#include "device/common_stage.hpp"

#include "formulas/pixel_types.h"
#include "formulas/point_rules.h"
#include "formulas/warp_rows.h"
#include "formulas/warp_tiles.h"

#include <warpalign/backend/stages/spline/warp_by_field.hpp>

#include <array>
#ifdef __CUDACC__
#include "formulas/bspline.h"
#include "formulas/spline_location.h"

#include <cuda_fp16.h>
#endif

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "warp_by_field";

#ifdef __CUDACC__
#define GROUP WA_WARP_GROUP
#define DIMENSIONS 2
#define DEGREE 1
namespace plane_1 {
#include "shared/warp_by_field.cl"
}  // namespace plane_1
#undef DEGREE
#define DEGREE 3
namespace plane_3 {
#include "shared/warp_by_field.cl"
}  // namespace plane_3
#undef DIMENSIONS
#define DIMENSIONS 3
namespace volume_3 {
#include "shared/warp_by_field.cl"
}  // namespace volume_3
#undef DEGREE
#define DEGREE 1
namespace volume_1 {
#include "shared/warp_by_field.cl"
}  // namespace volume_1
#undef DEGREE
#undef DIMENSIONS
#undef GROUP

using DisplacedKernel = decltype(&plane_1::evaluate_displaced);
DisplacedKernel displaced_kernel(int dimensions, int degree) {
  if (dimensions == 2) {
    return degree == 1 ? &plane_1::evaluate_displaced : &plane_3::evaluate_displaced;
  }
  return degree == 1 ? &volume_1::evaluate_displaced : &volume_3::evaluate_displaced;
}
using DisplacedLauncher = Launcher<DisplacedKernel>;
#else
KernelText displaced_kernel(int, int) { return WA_KERNEL_OF(warp_by_field, evaluate_displaced); }
using DisplacedLauncher = Launcher;
#endif

static_assert(static_cast<int>(OutsideField::edge) == 0 &&
                  static_cast<int>(OutsideField::zero) == 1 &&
                  static_cast<int>(OutsideField::nan) == 2,
              "the numbers of shared/warp_by_field.cl");
static_assert(static_cast<int>(PixelType::u8) == WA_PIXEL_U8 &&
                  static_cast<int>(PixelType::u16) == WA_PIXEL_U16 &&
                  static_cast<int>(PixelType::f16) == WA_PIXEL_F16 &&
                  static_cast<int>(PixelType::f32) == WA_PIXEL_F32,
              "the numbers of formulas/pixel_types.h");
using PointsRule = backend::InterpolateDetails::Points;
static_assert(static_cast<int>(PointsRule::free) == WA_FREE_POINTS &&
                  static_cast<int>(PointsRule::reject_outside) == WA_REJECT_OUTSIDE &&
                  static_cast<int>(PointsRule::clamp_to_margin) == WA_CLAMP_TO_MARGIN &&
                  static_cast<int>(PointsRule::period_minus_one) == WA_PERIOD_MINUS_ONE,
              "the numbers of formulas/point_rules.h");

WaTwoFloatRow row_of(const double* m) {
  WaTwoFloatRow row{};
  for (int i = 0; i < 4; ++i) {
    row.high[i] = static_cast<float>(m[i]);
    row.low[i] = static_cast<float>(m[i] - static_cast<double>(row.high[i]));
  }
  return row;
}

WaWarpRows rows_of(const backend::FieldWarp& warp) {
  WaWarpRows rows{};
  for (std::size_t i = 0; i < 4; ++i) {
    rows.to_input[i] = row_of(warp.to_input.m.data() + 4 * i);
    if (i < 3) rows.to_index[i] = row_of(warp.to_index.m.data() + 4 * i);
    for (std::size_t c = 0; c < 3; ++c) {
      rows.linear[i][c] = static_cast<float>(warp.linear[3 * i + c]);
    }
  }
  return rows;
}

class WarpByFieldStage final : public backend::WarpByField {
 public:
  WarpByFieldStage(DeviceContext& context, const InterpolateSpec& spec,
                   const backend::InterpolateDetails& details)
      : spec_(spec),
        details_(details),
        grid_(grid_of(context, spec)),
        evaluate_(context, stage, displaced_kernel(spec.images.dimensions, spec.spline.degree),
                  KernelOptions()
                      .set("DIMENSIONS", spec.images.dimensions)
                      .set("DEGREE", spec.spline.degree)
                      .set("GROUP", grid_.group.columns)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& coefficients,
               const backend::FieldWarp& warp, backend::Memory& output) override {
    const Shape& in = spec_.images.shape;
    const Shape& out = spec_.output;
    const Shape& of_field = warp.field.shape;
    evaluate_.launch(queue, grid_, coefficients, static_cast<int>(in.width),
                     static_cast<int>(in.height), static_cast<int>(in.depth), details_.margin,
                     static_cast<int>(details_.points), static_cast<int>(details_.extension),
                     static_cast<float>(spec_.spline.cval), warp.field.values,
                     warp.field.is_double ? 1 : 0, static_cast<int>(of_field.width),
                     static_cast<int>(of_field.height), static_cast<int>(of_field.depth),
                     warp.is_on_grid ? 1 : 0, static_cast<int>(warp.outside), rows_of(warp),
                     warp.to_input.is_affine() ? 0 : 1, static_cast<int>(spec_.images.count),
                     static_cast<int>(out.width), static_cast<int>(out.height),
                     static_cast<int>(out.depth), static_cast<int>(spec_.output_type), output);
  }

 private:
  static WorkGrid grid_of(DeviceContext& context, const InterpolateSpec& spec) {
    const Shape& out = spec.output;
    const int n = spec.images.dimensions;
    return {groups_over(out.width, WA_WARP_TILE_X(n)) * groups_over(out.height, WA_WARP_TILE_Y(n)) *
                groups_over(out.depth, WA_WARP_TILE_Z(n)),
            1,
            {group_of_at_most(context, WA_WARP_GROUP)}};
  }

  InterpolateSpec spec_;
  backend::InterpolateDetails details_;
  WorkGrid grid_;
  DisplacedLauncher evaluate_;
};

}  // namespace

template <>
std::unique_ptr<backend::WarpByField> make(DeviceContext& context,
                                           const backend::WarpByField::Setup& setup) {
  const auto& [spec, details] = setup;
  const bool copies = spec.images.dimensions == 3 && spec.spline.degree == 3;
  if (copies && local_bytes(context) < sizeof(float) * WA_WARP_COPY) return nullptr;
  return std::make_unique<WarpByFieldStage>(context, spec, details);
}

}  // namespace warpalign::WA_BACKEND
