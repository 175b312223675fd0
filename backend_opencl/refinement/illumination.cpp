// Stage: the local gain and offset between two registered images.
#include "filter/axis_tables.hpp"
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "refinement/cpu/illumination_cpu.hpp"
#include "refinement/illumination_pair.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "light_field";
constexpr std::int64_t moments_a_cell = 5;

class LightField final : public backend::LightField {
 public:
  LightField(OpenedDevice& device, const LightFieldSpec& spec, const std::vector<float>& weights)
      : spec_(spec),
        field_(LightFieldPlan::field_shape(spec.reference, spec.cell)),
        across_(to_int(field_.width, device.place(stage))),
        down_(to_int(field_.height, device.place(stage))),
        pair_(spec, device.place(stage)),
        reach_(static_cast<cl_int>(weights.size()) - 1),
        weights_(upload_floats(device, weights, stage)),
        moments_(make_buffer(
            device, static_cast<std::size_t>(moments_a_cell * field_.plane()) * sizeof(cl_float),
            stage)),
        grid_(covering(device, across_, down_)),
        sum_(device, stage, kernels::illumination, "light_moments", options()),
        fit_(device, stage, kernels::illumination, "light_fit", options()) {}

  void enqueue(backend::Queue& queue, const backend::SimilarityMemory& images, const Affine& matrix,
               const LightPrior& prior, backend::Memory& field) override {
    const LightLeaning leaning(prior);
    const cl_command_queue commands = queue_of(queue);
    order_.enter(commands, stage);
    pair_.launch_moments(sum_, commands, grid_, images, matrix, leaning.means, moments_, across_,
                         down_);
    fit_.launch(commands, grid_, moments_, across_, down_, weights_, reach_, leaning.gain,
                leaning.means, field);
  }

 private:
  [[nodiscard]] std::string options() const {
    return "-D CELL=" + std::to_string(spec_.cell) + (spec_.masked ? " -D MASKED" : "");
  }

  LightFieldSpec spec_;
  Shape field_;
  cl_int across_, down_;
  LightPair pair_;
  cl_int reach_;
  compute::buffer weights_, moments_;
  Grid grid_;
  Kernel sum_, fit_;
  QueueOrder order_;
};

}  // namespace

template <>
std::unique_ptr<backend::LightField> make(OpenedDevice& device, const backend::LightField::Setup& setup) {
  const auto& [spec, weights] = setup;
  if (device.has_vectors()) return make_light_lanes(device, spec, weights);
  return std::make_unique<LightField>(device, spec, weights);
}

}  // namespace warpalign::opencl
