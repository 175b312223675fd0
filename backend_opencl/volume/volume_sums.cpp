// Stage: sums over the overlap of two shifted volumes.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include <warpalign/backend/stages/volume/volume_sums.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "volume_sums";
constexpr std::size_t max_groups = 1024;

class VolumeSums final : public backend::VolumeSums {
 public:
  VolumeSums(Context& context, const VolumeSumsSpec& spec)
      : reference_(to_int4(spec.reference, context.call_site(stage))),
        moving_(to_int4(spec.moving, context.call_site(stage))),
        group_(short_row_group(context)),
        groups_(std::min(static_cast<std::size_t>(spec.reference.height * spec.reference.depth),
                         max_groups)),
        moment_count_(backend::volume_moment_count + backend::added_count(spec)),
        moments_(context, stage, kernels::volume_sums, "volume_moments", options(spec)),
        step_(context, stage, kernels::volume_sums, "volume_step", options(spec)) {}

  [[nodiscard]] std::size_t groups() const noexcept override { return groups_; }

  void enqueue_moments(backend::Queue& queue, const backend::Memory& reference,
                       const backend::Memory& moving, const backend::VolumeBox& box,
                       std::size_t slot, backend::Memory& partials) override {
    moments_.launch(queue_of(queue), grid(), reference, reference_, moving, moving_,
                    to_int4(box.first), to_int4(box.size), moving_first(box, 0),
                    static_cast<cl_int>(slot * moment_count_), partials);
  }

  void enqueue_step(backend::Queue& queue, const backend::Memory& reference,
                    const backend::Memory& moving, const backend::VolumeBox& box,
                    const std::array<float, 3>& fraction, backend::Memory& partials) override {
    const cl_float4 fractions{{fraction[0], fraction[1], fraction[2], 0}};
    step_.launch(queue_of(queue), grid(), reference, reference_, moving, moving_,
                 to_int4(box.first), to_int4(box.size), moving_first(box, 1), fractions, partials);
  }

 private:
  [[nodiscard]] std::string options(const VolumeSumsSpec& spec) const {
    return "-D GROUP=" + std::to_string(group_) + (spec.marked ? " -D MARKED" : "");
  }
  [[nodiscard]] Grid grid() const { return {{groups_ * group_, 1}, {group_, 1}}; }

  /// The position `before` voxels, along each axis, before the moving voxel that corresponds to the
  /// box's first voxel.
  [[nodiscard]] static cl_int4 moving_first(const backend::VolumeBox& box, std::int64_t before) {
    return to_int4({box.first[0] + box.shift[0] - before, box.first[1] + box.shift[1] - before,
                    box.first[2] + box.shift[2] - before});
  }

  cl_int4 reference_, moving_;
  std::size_t group_, groups_, moment_count_;
  Kernel moments_, step_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumeSums> make(Context& context, const VolumeSumsSpec& spec) {
  return std::make_unique<VolumeSums>(context, spec);
}

}  // namespace warpalign::opencl
