// Stage: the normalised correlation of two volumes within windows, and its derivatives.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/refinement/local_correlation.hpp>

#include <algorithm>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "local_correlation";

// The work-groups, and the lines of a tile, of volumes and of images.
#define SPACE_COLUMNS 32
#define SPACE_ROWS 8
#define SPACE_LINES 16
#define PLANE_COLUMNS 128
#ifdef __CUDACC__
#include "formulas/local_correlation.h"
#include "shared/noise_sample.h"
static_assert(WA_WINDOW_REACH == LocalCorrelationSpec::radius);
#define COLUMNS SPACE_COLUMNS
#define ROWS SPACE_ROWS
#define LINES SPACE_LINES
namespace in_space {
#include "shared/local_correlation.cl"
}
#undef COLUMNS
#undef ROWS
#undef LINES
#define COLUMNS PLANE_COLUMNS
#define ROWS 1
#define LINES 1
#define PLANAR
namespace in_plane {
#include "shared/local_correlation.cl"
}
using in_space::correlation_curvatures;
using in_space::correlation_factors;
using in_space::correlation_forces;
using in_space::correlation_noise;
using in_space::correlation_statistics;
#endif

#define WA_CORRELATION_FORMS(kernel) \
  WA_KERNEL_VARIANT_FORMS(space_.height == 1, PLANAR, in_plane, in_space, local_correlation, kernel)

// The windows that a work-group, or on CPUs a work-item, computes at a time.
struct Tile {
  int columns, lines;
};
constexpr Tile cpu_tile{64, 8};

class LocalCorrelationStage final : public backend::LocalCorrelation {
 public:
  LocalCorrelationStage(DeviceContext& context, const LocalCorrelationSpec& spec)
      : site_(site_of(context, stage)),
        space_(space_of(extents_of(spec.voxels, site_))),
        any_sign_(spec.any_sign ? 1 : 0),
        group_(group_of(context, space_)),
        tile_(has_vectors(context) ? cpu_tile
                                   : Tile{group_.columns, space_.height == 1 ? 1 : SPACE_LINES}),
        wanted_groups_(has_vectors(context) ? 64 : 1024),
        options_(KernelOptions()
                     .set("COLUMNS", group_.columns)
                     .set("ROWS", group_.rows)
                     .set("LINES", tile_.lines)),
        statistics_(context, stage, WA_CORRELATION_FORMS(correlation_statistics), options_),
        curvatures_(context, stage, WA_CORRELATION_FORMS(correlation_curvatures), options_),
        factors_(context, stage, WA_CORRELATION_FORMS(correlation_factors), options_),
        forces_(context, stage, WA_CORRELATION_FORMS(correlation_forces), options_),
        noise_(context, stage, WA_CORRELATION_FORMS(correlation_noise), options_),
        abc_(context, stage, 3 * static_cast<std::size_t>(spec.voxels.pixels()) * sizeof(float)) {}

  [[nodiscard]] int parts() const noexcept override {
    return tiles() * static_cast<int>(groups_over(space_.depth, share()));
  }

  void enqueue_statistics(backend::Queue& queue, const backend::Memory& reference, float floor,
                          backend::Memory& statistics) override {
    statistics_.launch(queue, grid(), reference, space_.width, space_.height, space_.depth, share(),
                       floor, statistics);
  }

  void enqueue_curvatures(backend::Queue& queue, const backend::Memory& reference,
                          const backend::Memory& statistics, CurvatureEntries entries,
                          backend::Memory& curvatures) override {
    curvatures_.launch(queue, grid(), reference, statistics, space_.width, space_.height,
                       space_.depth, share(), entries == CurvatureEntries::of_x ? 1 : 0,
                       curvatures);
  }

  void enqueue_forces(backend::Queue& queue, const backend::Memory& reference,
                      const backend::Memory& statistics, const backend::Memory& samples,
                      float floor, backend::Memory& partials, backend::Memory& forces) override {
    auto& abc = abc_.enter(queue);
    factors_.launch(queue, grid(), reference, statistics, samples, space_.width, space_.height,
                    space_.depth, share(), floor, any_sign_, abc, partials);
    forces_.launch(queue, grid(), reference, samples, abc, space_.width, space_.height,
                   space_.depth, share(), forces);
  }

  void enqueue_noise_samples(backend::Queue& queue, const backend::Memory& image,
                             const Shape& shape, std::int64_t every, std::int64_t count,
                             backend::Memory& samples) override {
    constexpr int samples_of_group = 256;
    const Extents extents = extents_of(shape, site_);
    noise_.launch(queue, WorkGrid{groups_over(count, samples_of_group), 1, group_}, image,
                  extents.width, extents.height, extents.depth, static_cast<int>(every),
                  static_cast<int>(count), samples_of_group, samples);
  }

 private:
  /// An image has one line, and its rows are the planes.
  static Extents space_of(const Extents& voxels) {
    if (voxels.depth > 1) return voxels;
    return {voxels.width, 1, voxels.height};
  }
  static WorkGroup group_of(DeviceContext& context, const Extents& space) {
    if (has_vectors(context)) return {1, 1};
    return space.height == 1 ? WorkGroup{group_of_at_most(context, PLANE_COLUMNS), 1}
                             : group_of_rows(context, SPACE_COLUMNS, SPACE_ROWS);
  }
  [[nodiscard]] int tiles() const {
    return static_cast<int>(groups_over(space_.width, tile_.columns) *
                            groups_over(space_.height, tile_.lines));
  }
  /// The planes of a work-group: many, because it loads four more, but so few that all processors
  /// have several.
  [[nodiscard]] int share() const {
    constexpr int least = 4;
    constexpr int most = 64;
    return std::clamp(space_.depth * tiles() / wanted_groups_, least, most);
  }
  [[nodiscard]] WorkGrid grid() const { return {parts(), 1, group_}; }

  CallSite site_;
  Extents space_;
  int any_sign_;
  WorkGroup group_;
  Tile tile_;
  int wanted_groups_;
  KernelOptions options_;
  WA_LAUNCHER_OF(correlation_statistics) statistics_;
  WA_LAUNCHER_OF(correlation_curvatures) curvatures_;
  WA_LAUNCHER_OF(correlation_factors) factors_;
  WA_LAUNCHER_OF(correlation_forces) forces_;
  WA_LAUNCHER_OF(correlation_noise) noise_;
  StageScratch abc_;  // the factors of the windows
};

}  // namespace

template <>
std::unique_ptr<backend::LocalCorrelation> make(DeviceContext& context,
                                                const LocalCorrelationSpec& spec) {
  return std::make_unique<LocalCorrelationStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
