// Stage: displacements that cubic B-spline coefficients on a regular grid define.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>

#include <algorithm>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "deformation_grid";

// How many columns a work-item sums, and how many control points of an axis a work-group, at most.
constexpr int gathered_columns = 4;
constexpr int largest_share = 8;
constexpr std::int64_t enough_groups = 1000;

#define COLUMNS 128
#ifdef __CUDACC__
#include "shared/deformation_grid.cl"
static_assert(WA_GATHERED == gathered_columns);
#endif

struct FloatAxis {
  explicit FloatAxis(const GridAxis& axis)
      : first(static_cast<float>(axis.first)),
        step(static_cast<float>(axis.step)),
        per(static_cast<float>(1 / axis.spacing)) {}
  float first, step, per;
};

class DeformationGridStage final : public backend::DeformationGrid {
 public:
  DeformationGridStage(DeviceContext& context, const DeformationGridSpec& spec)
      : voxels_(extents_of(spec.voxels, site_of(context, stage))),
        grid_(extents_of(spec.grid, site_of(context, stage))),
        moving_(extents_of(spec.moving, site_of(context, stage))),
        dimensions_(spec.dimensions()),
        x_(spec.axes[0]),
        y_(spec.axes[1]),
        z_(spec.axes[2]),
        group_{row_group(context, COLUMNS)},
        options_(KernelOptions().set("COLUMNS", group_.columns)),
        spread_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_spread), options_),
        rows_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_rows), options_),
        warp_(context, stage, WA_KERNEL_FORMS(deformation_grid, deformation_warp), options_),
        row_sums_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_row_sums), options_),
        gather_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_gather), options_),
        determinants_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_determinants),
                      options_),
        extremes_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_extremes), options_),
        marks_(context, stage, WA_KERNEL_OF(deformation_grid, deformation_marks), options_),
        by_two_axes_(context, stage,
                     std::max(bytes(grid_.width, grid_.height, voxels_.depth),
                              bytes(voxels_.width, grid_.height, grid_.depth))),
        // An image has no sums along z.
        by_one_axis_(context, stage,
                     std::max(bytes(grid_.width, voxels_.height, voxels_.depth),
                              dimensions_ == 3 ? bytes(voxels_.width, voxels_.height, grid_.depth)
                                               : std::size_t{0})) {}

  void enqueue_field(backend::Queue& queue, const backend::Memory& coefficients,
                     backend::Memory& field) override {
    auto& tall = by_one_axis_.enter(queue);
    spread(queue, coefficients, tall);
    rows_.launch(queue, grid_of(dimensions_ * voxels_.height * voxels_.depth), tall, grid_.width,
                 x_.first, x_.step, voxels_.width, field);
  }

  void enqueue_warp(backend::Queue& queue, const backend::Memory& coefficients,
                    const backend::Memory& moving, const backend::Memory& pose,
                    const backend::Memory* reference_mask, const backend::Memory* moving_mask,
                    backend::Memory& samples) override {
    auto& tall = by_one_axis_.enter(queue);
    spread(queue, coefficients, tall);
    // Without masks, the kernel reads neither; some memory must be given.
    const bool masked = reference_mask != nullptr;
    warp_.launch(queue, grid_of(std::int64_t{voxels_.height} * voxels_.depth), tall, grid_.width,
                 x_.first, x_.step, voxels_.width, voxels_.height, voxels_.depth, moving,
                 moving_.width, moving_.height, moving_.depth, pose, masked ? 1 : 0,
                 masked ? *reference_mask : moving, masked ? *moving_mask : moving, samples);
  }

  void enqueue_sums(backend::Queue& queue, int planes, const backend::Memory& volumes,
                    backend::Memory& sums) override {
    // Along x last: the other axes have long rows, which stay in order.
    auto& tall = by_two_axes_.enter(queue);
    if (dimensions_ == 2) {
      gather(queue, planes, volumes, voxels_.width, voxels_.height, y_, grid_.height, tall);
    } else {
      auto& deep = by_one_axis_.enter(queue);
      const int plane = voxels_.width * voxels_.height;
      gather(queue, planes, volumes, plane, voxels_.depth, z_, grid_.depth, deep);
      gather(queue, planes * grid_.depth, deep, voxels_.width, voxels_.height, y_, grid_.height,
             tall);
    }
    row_sums_.launch(queue, grid_of(planes * grid_.depth * grid_.height), tall, voxels_.width,
                     x_.first, x_.step, grid_.width, sums);
  }

  void enqueue_determinants(backend::Queue& queue, const backend::Memory& coefficients,
                            backend::Memory& determinants) override {
    determinants_.launch(queue, grid_of(voxels_.height * voxels_.depth), coefficients, grid_.width,
                         grid_.height, grid_.depth, x_.first, x_.step, x_.per, y_.first, y_.step,
                         y_.per, z_.first, z_.step, z_.per, voxels_.width, voxels_.height,
                         determinants);
  }

  void enqueue_extremes(backend::Queue& queue, const backend::Memory& determinants, float low,
                        float high, backend::Memory& extremes) override {
    extremes_.launch(queue, grid_of(voxels_.height * voxels_.depth), determinants, voxels_.width,
                     low, high, extremes);
  }

  void enqueue_marks(backend::Queue& queue, const backend::Memory& determinants, float lowest,
                     backend::Memory& marks) override {
    marks_.launch(queue, grid_of(voxels_.height * voxels_.depth), determinants, lowest, grid_.width,
                  grid_.height, grid_.depth, x_.first, x_.step, y_.first, y_.step, z_.first,
                  z_.step, voxels_.width, voxels_.height, marks);
  }

 private:
  [[nodiscard]] WorkGrid grid_of(std::int64_t groups) const { return {groups, 1, group_}; }
  /// Of an array of this size for each component.
  [[nodiscard]] std::size_t bytes(std::int64_t width, std::int64_t height,
                                  std::int64_t depth) const {
    return static_cast<std::size_t>(dimensions_ * width * height * depth) * sizeof(float);
  }

  /// The sums of the control points of one axis, each of `inner` values, for `outer` arrays.
  template <class From, class To>
  void gather(backend::Queue& queue, int outer, const From& from, int inner, int voxels,
              const FloatAxis& axis, int controls, To& to) {
    const int columns = outer * inner;
    int share = 1;
    WorkGrid grid{std::int64_t{outer} * controls, 1, group_};
    if (group_.columns > 1) {
      // A larger share reads each voxel less often, as long as all processors have work.
      const auto across = groups_over(columns, gathered_columns * group_.columns);
      const auto groups = [&](int of) { return across * groups_over(controls, of); };
      while (share < largest_share && groups(2 * share) >= enough_groups) share *= 2;
      grid = {groups_over(controls, share),
              share == 1 ? groups_over(columns, group_.columns) : across, group_};
    }
    gather_.launch(queue, grid, from, inner, columns, voxels, axis.first, axis.step, controls,
                   share, to);
  }

  /// Evaluates the spline along z and y.
  template <class Scratch>
  void spread(backend::Queue& queue, const backend::Memory& coefficients, Scratch& tall) {
    if (dimensions_ == 2) {
      return spread_along(queue, dimensions_, coefficients, grid_.width, grid_.height, y_,
                          voxels_.height, tall);
    }
    auto& narrow = by_two_axes_.enter(queue);
    spread_along(queue, dimensions_, coefficients, grid_.width * grid_.height, grid_.depth, z_,
                 voxels_.depth, narrow);
    spread_along(queue, dimensions_ * voxels_.depth, narrow, grid_.width, grid_.height, y_,
                 voxels_.height, tall);
  }

  template <class From, class To>
  void spread_along(backend::Queue& queue, int outer, const From& from, int inner, int controls,
                    const FloatAxis& axis, int voxels, To& to) {
    const int rows = outer * voxels;
    const int count = rows * inner;
    const auto groups =
        group_.columns > 1 ? groups_over(count, group_.columns) : std::int64_t{rows};
    spread_.launch(queue, grid_of(groups), from, inner, controls, axis.first, axis.step, voxels,
                   count, to);
  }

  Extents voxels_, grid_, moving_;
  int dimensions_;
  FloatAxis x_, y_, z_;
  WorkGroup group_;
  KernelOptions options_;
  WA_LAUNCHER_OF(deformation_spread) spread_;
  WA_LAUNCHER_OF(deformation_rows) rows_;
  WA_LAUNCHER_OF(deformation_warp) warp_;
  WA_LAUNCHER_OF(deformation_row_sums) row_sums_;
  WA_LAUNCHER_OF(deformation_gather) gather_;
  WA_LAUNCHER_OF(deformation_determinants) determinants_;
  WA_LAUNCHER_OF(deformation_extremes) extremes_;
  WA_LAUNCHER_OF(deformation_marks) marks_;
  // Arrays with control points along two axes, or one, and voxels along the others.
  StageScratch by_two_axes_, by_one_axis_;
};

}  // namespace

template <>
std::unique_ptr<backend::DeformationGrid> make(DeviceContext& context,
                                               const DeformationGridSpec& spec) {
  return std::make_unique<DeformationGridStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
