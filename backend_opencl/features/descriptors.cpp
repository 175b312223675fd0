// Stage: histograms of the gradients about places of images.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/descriptors.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "descriptors";
constexpr std::size_t max_group = 128;

class Descriptors final : public backend::Descriptors {
 public:
  Descriptors(Context& context, const DescriptorsSpec& spec)
      : simd_(context.has_vectors()),
        group_(simd_ ? 1 : std::min(max_group, reduction_group(context))),
        pixels_(static_cast<cl_int>(backend::packed_pixels(spec.planes))),
        directions_(context, stage, text(), "directions", options()),
        descriptors_(context, stage, text(), stage, options()) {}

  void enqueue_directions(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes, const backend::Memory& places,
                          const PlaceRange& range, backend::Memory& radians) override {
    directions_.launch(queue_of(queue), over(range), octave, planes, pixels_, places,
                       static_cast<cl_int>(range.first), radians);
  }

  void enqueue_descriptors(backend::Queue& queue, const backend::Memory& octave,
                           const backend::Memory& planes, const backend::Memory& places,
                           const PlaceRange& range, backend::Memory& descriptors) override {
    descriptors_.launch(queue_of(queue), over(range), octave, planes, pixels_, places,
                        static_cast<cl_int>(range.first), descriptors);
  }

 private:
  [[nodiscard]] std::string_view text() const {
    return simd_ ? kernels::descriptors_cpu : kernels::descriptors;
  }
  [[nodiscard]] std::string options() const {
    return simd_ ? "" : int_option("GROUP", static_cast<int>(group_));
  }
  [[nodiscard]] Grid over(const PlaceRange& range) const {
    return {{static_cast<std::size_t>(range.count) * group_, 1}, {group_, 1}};
  }

  bool simd_;
  std::size_t group_;
  cl_int pixels_;
  Kernel directions_, descriptors_;
};

}  // namespace

template <>
std::unique_ptr<backend::Descriptors> make(Context& context, const DescriptorsSpec& spec) {
  return std::make_unique<Descriptors>(context, spec);
}

}  // namespace warpalign::opencl
