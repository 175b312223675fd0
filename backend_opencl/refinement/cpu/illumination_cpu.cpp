// The local gain and offset between two registered images, on CPUs: sixteen values at a time.
#include "refinement/cpu/illumination_cpu.hpp"

#include "device/constants.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "refinement/cpu/sample_location_simd.hpp"
#include "refinement/illumination_pair.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "illumination";
constexpr std::int64_t moments_per_cell = 5;  // WA_ILLUMINATION_MOMENTS
constexpr std::int64_t sums_per_cell = 9;     // WA_ILLUMINATION_ROW_SUMS
constexpr std::int64_t block_rows = 32;       // of pixels, per work-item

// A grid of work-groups of one work-item each.
Grid items(std::int64_t count) { return {{static_cast<std::size_t>(count), 1}, {1, 1}}; }

class IlluminationCpu final : public backend::Illumination {
 public:
  IlluminationCpu(Context& context, const IlluminationSpec& spec, const std::vector<float>& weights)
      : spec_(spec),
        field_(IlluminationPlan::field_shape(spec.reference, spec.cell)),
        across_(extent(field_.width, context.call_site(stage))),
        down_(extent(field_.height, context.call_site(stage))),
        cells_(static_cast<cl_int>(row_segment / spec.cell)),
        cell_rows_(static_cast<cl_int>(divide_up(block_rows, spec.cell))),
        pair_(spec, context.call_site(stage)),
        reach_(static_cast<cl_int>(weights.size()) - 1),
        pitch_(extent(static_cast<std::int64_t>(rounded_up(across_, 16)) + std::int64_t{2} * reach_,
                      context.call_site(stage))),
        weights_(upload_floats(context, weights, stage)),
        moments_(upload_floats(context, std::vector<float>(values_of(moments_per_cell)), stage)),
        row_sums_(make_buffer(context, values_of(sums_per_cell) * sizeof(cl_float), stage)),
        sum_(context, stage, kernels::illumination_cpu, "illumination_moments", options()),
        along_(context, stage, kernels::illumination_cpu, "illumination_rows", options()),
        fit_(context, stage, kernels::illumination_cpu, "illumination_fit", options()) {}

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images,
               const Homography& matrix, const IlluminationPrior& prior,
               backend::Memory& field) override {
    const IlluminationLeaning leaning(prior);
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    pair_.launch_moments(sum_, commands,
                         items(divide_up(across_, cells_) * divide_up(down_, cell_rows_)), images,
                         matrix, leaning.means, moments_, across_, down_, cl_int{spec_.cell},
                         cells_, cell_rows_, reach_, pitch_);
    along_.launch(commands, items(down_), moments_, across_, down_, weights_, reach_, pitch_,
                  row_sums_);
    fit_.launch(commands, items(down_), row_sums_, across_, down_, weights_, reach_, pitch_,
                leaning.gain, leaning.means, field);
  }

 private:
  [[nodiscard]] std::size_t values_of(std::int64_t planes) const {
    return static_cast<std::size_t>(planes * down_ * pitch_);
  }
  [[nodiscard]] std::string options() const {
    return std::string(spec_.masked ? "-D MASKED" : "") +
           (spec_.projective ? " -D PROJECTIVE" : "");
  }

  IlluminationSpec spec_;
  Shape field_;
  cl_int across_, down_, cells_, cell_rows_;
  IlluminationPair pair_;
  cl_int reach_, pitch_;
  Handle<cl_mem> weights_, moments_, row_sums_;
  Kernel sum_, along_, fit_;
  ScratchGuard scratch_guard_;
};

}  // namespace

std::unique_ptr<backend::Illumination> make_illumination_cpu(Context& context,
                                                             const IlluminationSpec& spec,
                                                             const std::vector<float>& weights) {
  return std::make_unique<IlluminationCpu>(context, spec, weights);
}

}  // namespace warpalign::opencl
