// Stage: means of a spline over the footprints of output points.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spline/footprint_means.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "footprint_means";

#define GROUP 64
#ifdef __CUDACC__
#include "shared/footprint_means.cl"
#endif

class FootprintMeansStage final : public backend::FootprintMeans {
 public:
  FootprintMeansStage(DeviceContext& context, const Setup& setup)
      : setup_(setup),
        total_(static_cast<std::uint64_t>(setup.output.pixels() * setup.images.count *
                                          setup.components)),
        group_(group_of_at_most(context, GROUP)),
        mean_(context, stage, WA_KERNEL_OF(footprint_means, footprint_means),
              KernelOptions().set("GROUP", group_)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& coefficients,
               const backend::Memory& rows, const backend::Memory& points,
               backend::Memory& output) override {
    const Shape& in = setup_.images.shape;
    const Shape& out = setup_.output;
    const WorkGrid grid{groups_over(static_cast<std::int64_t>(total_), group_), 1, {group_}};
    mean_.launch(queue, grid, coefficients, setup_.images.dimensions, setup_.degree,
                 static_cast<int>(setup_.details.points),
                 static_cast<int>(setup_.details.extension), setup_.details.margin,
                 static_cast<int>(in.width), static_cast<int>(in.height),
                 static_cast<int>(in.depth), setup_.components, setup_.cval,
                 static_cast<int>(out.width), static_cast<int>(out.height),
                 static_cast<int>(out.depth), total_, rows, points, setup_.num_points, output);
  }

 private:
  Setup setup_;
  std::uint64_t total_;
  int group_;
  WA_LAUNCHER_OF(footprint_means) mean_;
};

}  // namespace

template <>
std::unique_ptr<backend::FootprintMeans> make(DeviceContext& context,
                                              const backend::FootprintMeans::Setup& setup) {
  return std::make_unique<FootprintMeansStage>(context, setup);
}

}  // namespace warpalign::WA_BACKEND
