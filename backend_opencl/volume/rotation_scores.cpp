// Stage: how well points with values agree with a volume under many rotations.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/volume/rotation_scores.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "rotation_scores";
constexpr std::size_t group = 64;

class RotationScores final : public backend::RotationScores {
 public:
  RotationScores(Context& context, const RotationScoresSpec& spec)
      : radius_(spec.radius),
        kernel_(context, stage, kernels::rotation_scores, "rotation_scores",
                int_option("GROUP", static_cast<int>(group))) {}

  void enqueue(backend::Queue& queue, const backend::RotationScoresMemory& memory,
               std::int64_t points, std::int64_t rotations, backend::Memory& scores) override {
    kernel_.launch(queue_of(queue), {{group * static_cast<std::size_t>(rotations), 1}, {group, 1}},
                   memory.volume, radius_, memory.points, static_cast<cl_int>(points),
                   memory.rotations, scores);
  }

 private:
  cl_int radius_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::RotationScores> make(Context& context, const RotationScoresSpec& spec) {
  return std::make_unique<RotationScores>(context, spec);
}

}  // namespace warpalign::opencl
