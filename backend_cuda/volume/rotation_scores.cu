// Stage: how well points with values agree with a volume under many rotations.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/volume/rotation_scores.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 64
#include "shared/rotation_scores.cl"
static_assert(sizeof(ScoredPoint) == 4 * sizeof(float));

class RotationScoresStage final : public backend::RotationScores {
 public:
  RotationScoresStage(const Context& context, const RotationScoresSpec& spec)
      : site_{context, "rotation_scores"}, radius_(spec.radius) {
    load(&rotation_scores, site_);
  }

  void enqueue(backend::Queue& queue, const backend::RotationScoresMemory& memory,
               std::int64_t points, std::int64_t rotations, backend::Memory& scores) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(rotations)), dim3(GROUP),
                 &rotation_scores, data<float>(memory.volume), radius_, data<float>(memory.points),
                 static_cast<int>(points), data<float>(memory.rotations), data<float>(scores));
  }

 private:
  CallSite site_;
  int radius_;
};

}  // namespace

template <>
std::unique_ptr<backend::RotationScores> make(const Context& context,
                                              const RotationScoresSpec& spec) {
  return std::make_unique<RotationScoresStage>(context, spec);
}

}  // namespace warpalign::cuda
