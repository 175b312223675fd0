// Stage: the sums for one Gauss-Newton step on the affine transform between two volumes.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "affine_volume_sums";
constexpr std::size_t group = 64;

class AffineVolumeSums final : public backend::AffineVolumeSums {
 public:
  AffineVolumeSums(Context& context, const AffineVolumeSumsSpec& spec)
      : reference_(to_int4(spec.reference, context.call_site(stage))),
        moving_(to_int4(spec.moving, context.call_site(stage))),
        margin_(spec.margin),
        parts_(backend::affine_volume_parts(spec.reference, spec.max_states)),
        unit_(2.0F / static_cast<float>(std::max(
                         {spec.reference.width, spec.reference.height, spec.reference.depth}))),
        kernel_(context, stage, kernels::affine_volume_sums, "affine_volume_sums",
                int_option("GROUP", static_cast<int>(group)) + (spec.marked ? " -D MARKED" : "")) {}

  [[nodiscard]] int parts() const noexcept override { return parts_; }

  void enqueue(backend::Queue& queue, const backend::AffineVolumeSumsMemory& memory,
               std::int64_t states, backend::Memory& partials) override {
    const std::size_t items = group * static_cast<std::size_t>(states * parts_);
    kernel_.launch(queue_of(queue), {{items, 1}, {group, 1}}, memory.reference, reference_.s[0],
                   reference_.s[1], reference_.s[2], margin_, memory.moving, moving_.s[0],
                   moving_.s[1], moving_.s[2], unit_, memory.states, parts_, partials);
  }

 private:
  cl_int4 reference_, moving_;
  cl_int margin_, parts_;
  cl_float unit_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::AffineVolumeSums> make(Context& context,
                                                const AffineVolumeSumsSpec& spec) {
  return std::make_unique<AffineVolumeSums>(context, spec);
}

}  // namespace warpalign::opencl
