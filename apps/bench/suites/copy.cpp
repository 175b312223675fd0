// The yardstick of all suites: a copy of an f32 image on the device.
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <cstring>

namespace warpalign::program::bench {
namespace {

class CopyWork final : public StageWork {
 public:
  CopyWork(const Device& device, const Shape& shape)
      : StageWork(device, {{PixelType::f32, shape, noise(PixelType::f32, shape)}},
                  {{PixelType::f32, shape}}) {}

  void make_plans() override {}  // a copy needs none

  Verdict verify(Stream& stream) override {
    const std::vector<float> copy = result<float>(stream);
    const bool same =
        std::memcmp(copy.data(), input(0).pixels->data(), copy.size() * sizeof(float)) == 0;
    return {same ? 0.0 : 1.0, 0, "the source, bit by bit"};
  }

 private:
  void run_on(Stream& stream, Set& set) override {
    stream.copy(set.inputs[0].buffer(), set.outputs[0].buffer());
  }
};

}  // namespace

Case copy_case(const Shape& shape) {
  Case made;
  made.suite = "copy";
  made.name = "copy";
  made.size = shape;
  made.unit = "pixels";
  made.operations = static_cast<double>(shape.pixels());
  made.max_allocation = static_cast<std::size_t>(shape.pixels()) * sizeof(float);
  made.memory_bytes = 2 * made.max_allocation;
  made.bytes = static_cast<double>(made.memory_bytes);
  made.on_device = [shape](const Device& device) {
    return std::make_unique<CopyWork>(device, shape);
  };
  return made;
}

}  // namespace warpalign::program::bench
