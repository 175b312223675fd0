// Stage: the local gain and offset between two registered images.
#include "device/constants.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "refinement/cpu/illumination_cpu.hpp"
#include "refinement/illumination_pair.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "illumination";
constexpr std::int64_t moments_per_cell = 5;

class Illumination final : public backend::Illumination {
 public:
  Illumination(Context& context, const IlluminationSpec& spec, const std::vector<float>& weights)
      : spec_(spec),
        field_(IlluminationPlan::field_shape(spec.reference, spec.cell)),
        across_(extent(field_.width, context.call_site(stage))),
        down_(extent(field_.height, context.call_site(stage))),
        pair_(spec, context.call_site(stage)),
        reach_(static_cast<cl_int>(weights.size()) - 1),
        weights_(upload_floats(context, weights, stage)),
        moments_(make_buffer(
            context, static_cast<std::size_t>(moments_per_cell * field_.plane()) * sizeof(cl_float),
            stage)),
        grid_(covering(context, across_, down_)),
        sum_(context, stage, kernels::illumination, "illumination_moments", options()),
        fit_(context, stage, kernels::illumination, "illumination_fit", options()) {}

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images,
               const Homography& matrix, const IlluminationPrior& prior,
               backend::Memory& field) override {
    const IlluminationLeaning leaning(prior);
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    pair_.launch_moments(sum_, commands, grid_, images, matrix, leaning.means, moments_, across_,
                         down_);
    fit_.launch(commands, grid_, moments_, across_, down_, weights_, reach_, leaning.gain,
                leaning.means, field);
  }

 private:
  [[nodiscard]] std::string options() const {
    return "-D CELL=" + std::to_string(spec_.cell) + (spec_.masked ? " -D MASKED" : "") +
           (spec_.projective ? " -D PROJECTIVE" : "");
  }

  IlluminationSpec spec_;
  Shape field_;
  cl_int across_, down_;
  IlluminationPair pair_;
  cl_int reach_;
  Handle<cl_mem> weights_, moments_;
  Grid grid_;
  Kernel sum_, fit_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::Illumination> make(Context& context,
                                            const backend::Illumination::Setup& setup) {
  const auto& [spec, weights] = setup;
  if (context.has_vectors()) return make_illumination_cpu(context, spec, weights);
  return std::make_unique<Illumination>(context, spec, weights);
}

}  // namespace warpalign::opencl
