// Stage: missing samples of arrays on a device are found and filled.
#include "device/common_stage.hpp"

#include "formulas/fill_missing.h"

#include <warpalign/backend/stages/filter/fill_missing.hpp>

#include <limits>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "fill_missing";

#define GROUP 256
#define CHUNK 4
#ifdef __CUDACC__
#include "shared/fill_missing.cl"
#endif

static_assert(backend::FillMissing::far_state == WA_FAR);

class FillMissingStage final : public backend::FillMissing {
 public:
  FillMissingStage(DeviceContext& context, const FillMissingSpec& spec)
      : width_(extent(spec.shape.width, site_of(context, stage))),
        height_(extent(spec.shape.height, site_of(context, stage))),
        depth_(extent(spec.shape.depth, site_of(context, stage))),
        count_(static_cast<std::uint32_t>(spec.samples())),
        group_(is_cpu(context) ? 1 : group_of_at_most(context, GROUP)),
        chunk_(is_cpu(context) ? 1024 : CHUNK),
        grid_(grid_over(spec.samples())),
        find_(context, stage, WA_KERNEL_OF(fill_missing, find_missing), options()),
        layer_(context, stage, WA_KERNEL_OF(fill_missing, fill_layer), options()),
        furthest_(context, stage, WA_KERNEL_OF(fill_missing, furthest_layer), options()),
        start_(context, stage, WA_KERNEL_OF(fill_missing, start_nearest), options()),
        nearer_(context, stage, WA_KERNEL_OF(fill_missing, step_nearest), options()),
        copy_(context, stage, WA_KERNEL_OF(fill_missing, copy_nearest), options()),
        equations_(context, stage, WA_KERNEL_OF(fill_missing, set_equations), options()),
        link_(context, stage, WA_KERNEL_OF(fill_missing, link_equations), options()),
        counts_(context, stage, WA_KERNEL_OF(fill_missing, count_links), options()),
        list_(context, stage, WA_KERNEL_OF(fill_missing, list_links), options()),
        turn_(context, stage, WA_KERNEL_OF(fill_missing, turn_direction), options()),
        follow_(context, stage, WA_KERNEL_OF(fill_missing, follow_direction), options()),
        add_(context, stage, WA_KERNEL_OF(fill_missing, add_steps), options()),
        mark_(context, stage, WA_KERNEL_OF(fill_missing, mark_missing), options()) {}

  [[nodiscard]] std::int64_t parts() const noexcept override { return grid_.columns; }

  void enqueue_find(backend::Queue& queue, const backend::Memory& values,
                    std::optional<float> nodata, backend::Memory& known,
                    backend::Memory& counts) override {
    find_.launch(queue, grid_, values, nodata ? 1 : 0, nodata.value_or(0.0F), count_, known,
                 counts);
  }

  void enqueue_layer(backend::Queue& queue, int layer, const backend::Memory& from,
                     backend::Memory& to, backend::Memory& values) override {
    layer_.launch(queue, grid_, from, width_, height_, depth_, layer, count_, values, to);
  }

  void enqueue_furthest(backend::Queue& queue, const backend::Memory& states,
                        backend::Memory& furthest) override {
    furthest_.launch(queue, grid_, states, count_, furthest);
  }

  void enqueue_start_nearest(backend::Queue& queue, const backend::Memory& states,
                             backend::Memory& nearest) override {
    start_.launch(queue, grid_, states, count_, nearest);
  }

  void enqueue_step_nearest(backend::Queue& queue, int step, const backend::Memory& from,
                            backend::Memory& to) override {
    nearer_.launch(queue, grid_, from, width_, height_, depth_, step, count_, to);
  }

  void enqueue_copy_nearest(backend::Queue& queue, const backend::Memory& nearest,
                            backend::Memory& values, backend::Memory& states) override {
    copy_.launch(queue, grid_, nearest, count_, values, states);
  }

  void enqueue_equations(backend::Queue& queue, const backend::Memory& states,
                         const backend::Memory& values, backend::Memory& roles,
                         backend::Memory& links, backend::Memory& residual,
                         backend::Memory& direction) override {
    equations_.launch(queue, grid_, states, values, width_, height_, depth_, count_, roles,
                      residual, direction);
    link_.launch(queue, grid_, roles, width_, height_, depth_, count_, links);
  }

  void enqueue_counts(backend::Queue& queue, const backend::Memory& links,
                      backend::Memory& counts) override {
    counts_.launch(queue, grid_, links, static_cast<int>(parts()), count_, counts);
  }

  void enqueue_lists(backend::Queue& queue, const backend::Memory& links,
                     const backend::Memory& offsets, backend::Memory& smoothed,
                     backend::Memory& equations) override {
    list_.launch(queue, grid_, links, static_cast<int>(parts()), count_, offsets, smoothed,
                 equations);
  }

  void enqueue_iteration(backend::Queue& queue, float momentum, float rate,
                         const backend::HoleEquations& of) override {
    turn_.launch(queue, grid_over(of.num_smoothed), of.smoothed, of.links, of.residual, width_,
                 height_, momentum, rate, static_cast<std::uint32_t>(of.num_smoothed), of.direction,
                 of.steps);
    follow_.launch(queue, grid_over(of.num_equations), of.equations, of.links, of.direction, width_,
                   height_, static_cast<std::uint32_t>(of.num_equations), of.residual);
  }

  void enqueue_add(backend::Queue& queue, const backend::HoleEquations& of,
                   backend::Memory& values) override {
    add_.launch(queue, grid_over(of.num_smoothed), of.smoothed, of.steps,
                static_cast<std::uint32_t>(of.num_smoothed), values);
  }

  void enqueue_mark(backend::Queue& queue, const MissingResults& how, float least,
                    backend::Memory& shares, backend::Memory& results) override {
    constexpr float beyond_edges = 1.5F;
    const float outside = how.has_outside ? beyond_edges : std::numeric_limits<float>::max();
    mark_.launch(queue, grid_, outside, how.outside ? 1 : 0, how.outside.value_or(0.0F), least,
                 how.missing, how.avoids_missing ? 1 : 0, how.lowest, how.highest, how.next, count_,
                 shares, results);
  }

 private:
  [[nodiscard]] KernelOptions options() const {
    return KernelOptions().set("GROUP", group_).set("CHUNK", chunk_);
  }

  [[nodiscard]] WorkGrid grid_over(std::int64_t samples) const {
    return {groups_over(samples, std::int64_t{group_} * chunk_), 1, {group_}};
  }

  int width_, height_, depth_;
  std::uint32_t count_;
  int group_, chunk_;
  WorkGrid grid_;
  WA_LAUNCHER_OF(find_missing) find_;
  WA_LAUNCHER_OF(fill_layer) layer_;
  WA_LAUNCHER_OF(furthest_layer) furthest_;
  WA_LAUNCHER_OF(start_nearest) start_;
  WA_LAUNCHER_OF(step_nearest) nearer_;
  WA_LAUNCHER_OF(copy_nearest) copy_;
  WA_LAUNCHER_OF(set_equations) equations_;
  WA_LAUNCHER_OF(link_equations) link_;
  WA_LAUNCHER_OF(count_links) counts_;
  WA_LAUNCHER_OF(list_links) list_;
  WA_LAUNCHER_OF(turn_direction) turn_;
  WA_LAUNCHER_OF(follow_direction) follow_;
  WA_LAUNCHER_OF(add_steps) add_;
  WA_LAUNCHER_OF(mark_missing) mark_;
};

}  // namespace

template <>
std::unique_ptr<backend::FillMissing> make(DeviceContext& context, const FillMissingSpec& spec) {
  return std::make_unique<FillMissingStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
