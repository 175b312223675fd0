// Stage: images of several sizes, each smoothed more and more.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "features/plane_groups.hpp"

#include "formulas/features.h"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/octave.hpp>

#include <optional>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "octave";

class Octave final : public backend::Octave {
 public:
  Octave(Context& context, const OctaveSpec& spec)
      : simd_(context.has_vectors()),
        groups_(context),
        spec_(spec),
        kernel_text_(simd_ ? kernels::octave_cpu : kernels::octave),
        rows_(context, stage, kernel_text_, "octave_rows", simd_ ? "" : groups_.options()),
        columns_(context, stage, kernel_text_, "octave_columns", simd_ ? "" : groups_.options()) {
    const std::vector<Shape> planes = backend::every_step(spec.planes, spec.step, spec.step);
    source_pixels_ = backend::packed_pixels(spec.planes);
    pixels_ = backend::packed_pixels(planes);
    over_first_rows_ = over(backend::every_step(spec.planes, spec.step, 1));
    over_ = over(planes);
    if (!simd_) {
      over_tiles_ = groups_.over(planes, WA_ROWS_AN_ITEM);
      image_.emplace(context, stage, kernel_text_, "octave_image", groups_.options());
      taken_.emplace(context, stage, kernel_text_, "octave_taken", groups_.options());
    }
  }

  void enqueue(backend::Queue& queue, const backend::Memory& source, std::int64_t image,
               const backend::OctaveMemory& with, backend::Memory& octave) override {
    const cl_command_queue commands = queue_of(queue);
    cl_int first_weight = 0;
    for (std::size_t i = 0; i < spec_.sigmas.size(); ++i) {
      const cl_int radius = backend::octave_radius(spec_.sigmas[i]);
      const bool is_first = i == 0;
      const auto from = static_cast<cl_int>(is_first ? image * source_pixels_
                                                     : static_cast<std::int64_t>(i - 1) * pixels_);
      const auto to = static_cast<cl_int>(static_cast<std::int64_t>(i) * pixels_);
      const cl_int step = is_first ? static_cast<cl_int>(spec_.step) : 1;
      const backend::Memory& input = is_first ? source : octave;
      const backend::Memory& planes = is_first ? with.source_planes : with.planes;
      if (taken_ && step > 1 && radius == 0) {
        taken_->launch(commands, over_, input, from, planes, with.planes, step, octave);
      } else if (image_ && step == 1 && radius <= WA_OCTAVE_MAX_RADIUS) {
        image_->launch(commands, over_tiles_, input, from, planes, with.weights, first_weight,
                       radius, octave, to);
      } else {
        rows_.launch(commands, is_first ? over_first_rows_ : over_, input, from, planes,
                     with.planes, step, with.weights, first_weight, radius, with.between);
        columns_.launch(commands, over_, with.between, planes, with.planes, step, with.weights,
                        first_weight, radius, octave, to);
      }
      first_weight += 2 * radius + 1;
    }
  }

 private:
  // CPUs process whole rows.
  [[nodiscard]] Grid over(const std::vector<Shape>& planes) const {
    return simd_ ? over_rows(planes) : groups_.over(planes);
  }

  bool simd_;
  PlaneGroups groups_;
  OctaveSpec spec_;
  std::string_view kernel_text_;
  std::int64_t source_pixels_ = 0, pixels_ = 0;  // of an image
  Grid over_first_rows_, over_, over_tiles_;
  Kernel rows_, columns_;
  std::optional<Kernel> image_, taken_;  // rows and columns at once; not smoothed
};

}  // namespace

template <>
std::unique_ptr<backend::Octave> make(Context& context, const OctaveSpec& spec) {
  return std::make_unique<Octave>(context, spec);
}

}  // namespace warpalign::opencl
