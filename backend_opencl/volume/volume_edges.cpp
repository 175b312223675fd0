// Stage: the gradient magnitude of a volume.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include <warpalign/backend/stages/volume/volume_edges.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "volume_edges";

class VolumeEdges final : public backend::VolumeEdges {
 public:
  VolumeEdges(Context& context, const VolumeEdgesSpec& spec)
      : size_(to_int4(spec.shape, context.call_site(stage))),
        grid_(patches(context, spec.shape.width, spec.shape.height * spec.shape.depth)),
        kernel_(context, stage, kernels::volume_edges, "volume_edges", "") {
    const auto factors = backend::slope_factors(spec);
    factors_ = {{factors[0], factors[1], factors[2], 0}};
  }

  void enqueue(backend::Queue& queue, const backend::Memory& volume, const EdgeCurve& curve,
               backend::Memory& edges) override {
    kernel_.launch(queue_of(queue), grid_, volume, size_, factors_, curve.share, curve.epsilon,
                   edges);
  }

 private:
  cl_int4 size_;
  cl_float4 factors_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumeEdges> make(Context& context, const VolumeEdgesSpec& spec) {
  return std::make_unique<VolumeEdges>(context, spec);
}

}  // namespace warpalign::opencl
