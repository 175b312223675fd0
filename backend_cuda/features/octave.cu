// Stage: images of several sizes, each smoothed more and more.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "features/plane_groups.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/octave.hpp>

#include <vector>

namespace warpalign::cuda {
namespace {

#define COLUMNS 32
#define ROWS 8
#include "shared/octave.cl"
static_assert(COLUMNS == plane_columns && ROWS == plane_rows);
static_assert(WA_PLANE_WORDS == backend::packed_plane_words);

class OctaveStage final : public backend::Octave {
 public:
  OctaveStage(const Context& context, const OctaveSpec& spec)
      : site_{context, "octave"},
        spec_(spec),
        source_pixels_(backend::packed_pixels(spec.planes)),
        pixels_(backend::packed_pixels(backend::every_step(spec.planes, spec.step, spec.step))),
        over_first_rows_(blocks_over(backend::every_step(spec.planes, spec.step, 1))),
        over_(blocks_over(backend::every_step(spec.planes, spec.step, spec.step))),
        over_tiles_(
            blocks_over(backend::every_step(spec.planes, spec.step, spec.step), TILE_ROWS)) {
    load(&octave_image, site_);
    load(&octave_rows, site_);
    load(&octave_columns, site_);
    load(&octave_taken, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& source, std::int64_t image,
               const backend::OctaveMemory& with, backend::Memory& octave) override {
    int first_weight = 0;
    for (std::size_t i = 0; i < spec_.sigmas.size(); ++i) {
      const int radius = backend::octave_radius(spec_.sigmas[i]);
      const bool is_first = i == 0;
      const auto previous = static_cast<std::int64_t>(i) - 1;
      const auto from = static_cast<int>(is_first ? image * source_pixels_ : previous * pixels_);
      const auto to = static_cast<int>(static_cast<std::int64_t>(i) * pixels_);
      const int step = is_first ? static_cast<int>(spec_.step) : 1;
      const float* input = data<float>(is_first ? source : octave);
      const int* planes = data<int>(is_first ? with.source_planes : with.planes);
      if (step > 1 && radius == 0) {
        launch_early(site_, queue, over_, dim3(COLUMNS, ROWS), &octave_taken, input, from, planes,
                     data<int>(with.planes), step, data<float>(octave));
      } else if (step == 1 && radius <= MAX_RADIUS) {
        launch_early(site_, queue, over_tiles_, dim3(COLUMNS, ROWS), &octave_image, input, from,
                     planes, data<float>(with.weights), first_weight, radius, data<float>(octave),
                     to);
      } else {
        launch_early(site_, queue, is_first ? over_first_rows_ : over_, dim3(COLUMNS, ROWS),
                     &octave_rows, input, from, planes, data<int>(with.planes), step,
                     data<float>(with.weights), first_weight, radius, data<float>(with.between));
        launch_early(site_, queue, over_, dim3(COLUMNS, ROWS), &octave_columns,
                     data<float>(with.between), planes, data<int>(with.planes), step,
                     data<float>(with.weights), first_weight, radius, data<float>(octave), to);
      }
      first_weight += 2 * radius + 1;
    }
  }

 private:
  CallSite site_;
  OctaveSpec spec_;
  std::int64_t source_pixels_, pixels_;  // of an image
  dim3 over_first_rows_, over_, over_tiles_;
};

}  // namespace

template <>
std::unique_ptr<backend::Octave> make(const Context& context, const OctaveSpec& spec) {
  return std::make_unique<OctaveStage>(context, spec);
}

}  // namespace warpalign::cuda
