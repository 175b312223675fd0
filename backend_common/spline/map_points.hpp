// Stage: points that are mapped in double precision.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spline/map_points.hpp>

#include <array>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "map_points";

#define GROUP 128
#define CHUNK 1
#ifdef __CUDACC__
#include "shared/map_points.cl"
#endif

static_assert(static_cast<int>(OutsideField::edge) == 0 &&
                  static_cast<int>(OutsideField::zero) == 1 &&
                  static_cast<int>(OutsideField::nan) == 2,
              "the numbers of shared/map_points.cl");

class MapPointsStage final : public backend::MapPoints {
 public:
  MapPointsStage(DeviceContext& context, const Setup& setup)
      : dimensions_(setup.dimensions),
        group_(is_cpu(context) ? 1 : group_of_at_most(context, GROUP)),
        chunk_(is_cpu(context) ? 256 : CHUNK),
        grid_(context, stage, WA_KERNEL_OF(map_points, points_of_grid), options()),
        displacements_(context, stage, WA_KERNEL_OF(map_points, without_grid), options()),
        by_matrix_(context, stage, WA_KERNEL_OF(map_points, matrix_points), options()),
        by_field_(context, stage, WA_KERNEL_OF(map_points, field_points), options()),
        by_inverse_(context, stage, WA_KERNEL_OF(map_points, inverse_points), options()),
        by_linear_inverse_(context, stage, WA_KERNEL_OF(map_points, inverse_linear_points),
                           options()) {}

  void enqueue_grid(backend::Queue& queue, const PointGrid& grid,
                    const backend::PointsInMemory& points) override {
    launch_on_grid(grid_, queue, grid, points);
  }

  void enqueue_displacements(backend::Queue& queue, const PointGrid& grid,
                             const backend::PointsInMemory& points) override {
    launch_on_grid(displacements_, queue, grid, points);
  }

  void enqueue_matrix(backend::Queue& queue, const HomogeneousMatrix& matrix,
                      const backend::PointsInMemory& points) override {
    const auto& m = matrix.m;
    launch(by_matrix_, queue, points, dimensions_, m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7],
           m[8], m[9], m[10], m[11], m[12], m[13], m[14], m[15]);
  }

  void enqueue_field(backend::Queue& queue, const backend::FieldInMemory& field,
                     OutsideField outside, const backend::PointsInMemory& points) override {
    launch_with_field(by_field_, queue, field, outside, points);
  }

  void enqueue_inverse(backend::Queue& queue, const backend::FieldInMemory& field, double tolerance,
                       OutsideField outside, const backend::PointsInMemory& points) override {
    launch_with_field(field.is_cubic ? by_inverse_ : by_linear_inverse_, queue, field, outside,
                      points, tolerance);
  }

 private:
  [[nodiscard]] KernelOptions options() const {
    return KernelOptions().set("GROUP", group_).set("CHUNK", chunk_);
  }

  /// Launches a kernel with the arguments, and then the points.
  template <class Kernel, class... Arguments>
  void launch(Kernel& kernel, backend::Queue& queue, const backend::PointsInMemory& points,
              Arguments&&... arguments) {
    const auto count = static_cast<std::int64_t>(points.count);
    kernel.launch(queue, {groups_over(count, std::int64_t{group_} * chunk_), 1, {group_}},
                  arguments..., static_cast<std::uint64_t>(points.first),
                  static_cast<std::uint64_t>(points.strides.point),
                  static_cast<std::uint64_t>(points.strides.axis),
                  static_cast<std::uint64_t>(points.count), points.memory);
  }

  template <class Kernel>
  void launch_on_grid(Kernel& kernel, backend::Queue& queue, const PointGrid& grid,
                      const backend::PointsInMemory& points) {
    const auto m = grid.index_to_point().m;
    launch(kernel, queue, points, dimensions_, static_cast<int>(grid.shape.width),
           static_cast<int>(grid.shape.height), m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7],
           m[8], m[9], m[10], m[11]);
  }

  template <class Kernel, class... Arguments>
  void launch_with_field(Kernel& kernel, backend::Queue& queue, const backend::FieldInMemory& field,
                         OutsideField outside, const backend::PointsInMemory& points,
                         Arguments... arguments) {
    const auto& m = field.point_to_index.m;
    launch(kernel, queue, points, field.values, field.is_double ? 1 : 0, field.is_cubic ? 1 : 0,
           dimensions_, static_cast<int>(field.shape.width), static_cast<int>(field.shape.height),
           static_cast<int>(field.shape.depth), field.margin, m[0], m[1], m[2], m[3], m[4], m[5],
           m[6], m[7], m[8], m[9], m[10], m[11], static_cast<int>(outside), arguments...);
  }

  int dimensions_;
  int group_, chunk_;
  WA_LAUNCHER_OF(points_of_grid) grid_;
  WA_LAUNCHER_OF(without_grid) displacements_;
  WA_LAUNCHER_OF(matrix_points) by_matrix_;
  WA_LAUNCHER_OF(field_points) by_field_;
  WA_LAUNCHER_OF(inverse_points) by_inverse_;
  WA_LAUNCHER_OF(inverse_linear_points) by_linear_inverse_;
};

}  // namespace

template <>
std::unique_ptr<backend::MapPoints> make(DeviceContext& context,
                                         const backend::MapPoints::Setup& setup) {
  return std::make_unique<MapPointsStage>(context, setup);
}

}  // namespace warpalign::WA_BACKEND
