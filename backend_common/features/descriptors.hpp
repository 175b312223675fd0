// Stage: orientations and descriptors of features.
#include "device/common_stage.hpp"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/descriptors.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "descriptors";

#define GROUP 128
#ifdef __CUDACC__
#include "shared/descriptors.cl"
static_assert(WA_PLANE_WORDS == backend::packed_plane_words);
static_assert(sizeof(WaKeypoint) == sizeof(Keypoint));
static_assert(DIMENSIONS == DescriptorsPlan::dimensions);
static_assert(MAX_DIRECTIONS == DescriptorsPlan::max_orientations);
static_assert(NO_DIRECTION == DescriptorsPlan::no_orientation);
#endif

class DescriptorsStage final : public backend::Descriptors {
 public:
  DescriptorsStage(DeviceContext& context, const DescriptorsSpec& spec)
      : group_(group_or_vector(context, group_of_at_most(context, GROUP))),
        pixels_(static_cast<int>(backend::packed_pixels(spec.planes))),
        directions_(context, stage, WA_KERNEL_FORMS(descriptors, directions),
                    KernelOptions().set("GROUP", group_)),
        descriptors_(context, stage, WA_KERNEL_FORMS(descriptors, descriptors),
                     KernelOptions().set("GROUP", group_)) {}

  void enqueue_directions(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes, const backend::Memory& places,
                          const KeypointRange& range, backend::Memory& radians) override {
    directions_.launch(queue, over(range), octave, planes, pixels_, places,
                       static_cast<int>(range.first), radians);
  }

  void enqueue_descriptors(backend::Queue& queue, const backend::Memory& octave,
                           const backend::Memory& planes, const backend::Memory& places,
                           const KeypointRange& range, backend::Memory& rows) override {
    descriptors_.launch(queue, over(range), octave, planes, pixels_, places,
                        static_cast<int>(range.first), rows);
  }

 private:
  [[nodiscard]] WorkGrid over(const KeypointRange& range) const {
    return {range.count, 1, {group_}};
  }

  int group_, pixels_;
  WA_LAUNCHER_OF(directions) directions_;
  WA_LAUNCHER_OF(descriptors) descriptors_;
};

}  // namespace

template <>
std::unique_ptr<backend::Descriptors> make(DeviceContext& context, const DescriptorsSpec& spec) {
  return std::make_unique<DescriptorsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
