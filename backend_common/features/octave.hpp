// Stage: the smoothed images of one octave of a scale space.
#include "device/common_stage.hpp"
#include "features/plane_groups.hpp"

#include "formulas/features.h"

#include <warpalign/backend/stages/features/octave.hpp>

#include <optional>
#include <vector>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "octave";

#ifdef __CUDACC__
#include "shared/octave.cl"
static_assert(WA_PLANE_WORDS == backend::packed_plane_words);
#endif

class OctaveStage final : public backend::Octave {
 public:
  OctaveStage(DeviceContext& context, const OctaveSpec& spec)
      : spec_(spec),
        has_vectors_(has_vectors(context)),
        groups_(context),
        source_pixels_(backend::packed_pixels(spec.planes)),
        pixels_(backend::packed_pixels(sampled_planes())),
        over_first_rows_(groups_.over_forms(backend::every_step(spec.planes, spec.step, 1))),
        over_(groups_.over_forms(sampled_planes())),
        over_tiles_(groups_.over(sampled_planes(), WA_ROWS_AN_ITEM)),
        rows_(context, stage, WA_KERNEL_FORMS(octave, octave_rows), groups_.options()),
        columns_(context, stage, WA_KERNEL_FORMS(octave, octave_columns), groups_.options()) {
    if (has_vectors_) return;
    image_.emplace(context, stage, WA_KERNEL_OF(octave, octave_image), groups_.options());
    taken_.emplace(context, stage, WA_KERNEL_OF(octave, octave_taken), groups_.options());
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
      const backend::Memory& input = is_first ? source : octave;
      const backend::Memory& planes = is_first ? with.source_planes : with.planes;
      if (taken_ && step > 1 && radius == 0) {
        taken_->launch(queue, over_, input, from, planes, with.planes, step, octave);
      } else if (image_ && step == 1 && radius <= WA_OCTAVE_MAX_RADIUS) {
        image_->launch(queue, over_tiles_, input, from, planes, with.weights, first_weight, radius,
                       octave, to);
      } else {
        rows_.launch(queue, is_first ? over_first_rows_ : over_, input, from, planes, with.planes,
                     step, with.weights, first_weight, radius, with.between);
        columns_.launch(queue, over_, with.between, planes, with.planes, step, with.weights,
                        first_weight, radius, octave, to);
      }
      first_weight += 2 * radius + 1;
    }
  }

 private:
  [[nodiscard]] std::vector<Shape> sampled_planes() const {
    return backend::every_step(spec_.planes, spec_.step, spec_.step);
  }

  OctaveSpec spec_;
  bool has_vectors_;
  PlaneGroups groups_;
  std::int64_t source_pixels_, pixels_;  // per image
  WorkGrid over_first_rows_, over_, over_tiles_;
  WA_LAUNCHER_OF(octave_rows) rows_;
  WA_LAUNCHER_OF(octave_columns) columns_;
  std::optional<WA_LAUNCHER_OF(octave_image)> image_;  // rows and columns at once
  std::optional<WA_LAUNCHER_OF(octave_taken)> taken_;  // copied without smoothing
};

}  // namespace

template <>
std::unique_ptr<backend::Octave> make(DeviceContext& context, const OctaveSpec& spec) {
  return std::make_unique<OctaveStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND
