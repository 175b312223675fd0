// Stage: scores of rotations of one spectrum against another.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/volume/rotation_scores.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "rotation_scores";

#define GROUP 64
#ifdef __CUDACC__
#include "shared/rotation_scores.cl"
static_assert(sizeof(ScoredPoint) == 4 * sizeof(float));
#endif

class RotationScoresStage final : public backend::RotationScores {
 public:
  RotationScoresStage(DeviceContext& context, const RotationScoresSpec& spec)
      : radius_(spec.radius),
        score_(context, stage, WA_KERNEL_OF(rotation_scores, rotation_scores),
               KernelOptions().set("GROUP", GROUP)) {}

  void enqueue(backend::Queue& queue, const backend::RotationScoresMemory& memory,
               std::int64_t points, std::int64_t rotations, backend::Memory& scores) override {
    score_.launch(queue, {rotations, 1, {GROUP}}, memory.volume, radius_, memory.points,
                  static_cast<int>(points), memory.rotations, scores);
  }

 private:
  int radius_;
  WA_LAUNCHER_OF(rotation_scores) score_;
};

}  // namespace

template <>
std::unique_ptr<backend::RotationScores> make(DeviceContext& context,
                                              const RotationScoresSpec& spec) {
  return std::make_unique<RotationScoresStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
