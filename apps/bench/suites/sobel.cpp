// Suite: the Sobel gradient of 8-bit images. Registration paper, section 4: the packed kernel is
// more than 3 times as fast as a simple one with nine reads a pixel.
#include "bench/spline_problem.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/stages/sobel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace warpalign::program::bench {
namespace {

/// The gradient by nine reads, with repeated edges.
double gradient_at(const std::uint8_t* pixels, const Shape& shape, std::int64_t x, std::int64_t y) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const std::int64_t column = std::clamp<std::int64_t>(x + i, 0, shape.width - 1);
    const std::int64_t row = std::clamp<std::int64_t>(y + j, 0, shape.height - 1);
    return static_cast<double>(pixels[row * shape.width + column]);
  };
  const double gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const double gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  return std::hypot(gx, gy);
}

class SobelWork final : public StageWork {
 public:
  SobelWork(const Device& device, const SobelSpec& spec)
      : StageWork(device, {{spec.input, spec.shape, noise(spec.input, spec.shape)}},
                  {{PixelType::f32, spec.shape}}),
        spec_(spec) {}

  void make_plans() override { plan_.emplace(device(), spec_); }

  Verdict verify(Stream& stream) override {
    const std::vector<float> found = result<float>(stream);
    // Gradients of integers are exact; their magnitude, up to 1443, is rounded twice.
    Verdict verdict{0, 2.5e-4, "double precision, at sampled pixels"};
    for (const auto& [x, y, z] : sample_pixels(spec_.shape, 1000)) {
      const auto at = static_cast<std::size_t>(y * spec_.shape.width + x);
      const double truth = gradient_at(values_of<std::uint8_t>(input(0).pixels), spec_.shape, x, y);
      const double error = std::abs(static_cast<double>(found[at]) - truth);
      if (!(error <= verdict.error)) verdict.error = error;
    }
    return verdict;
  }

 private:
  void run_on(Stream& stream, Set& set) override {
    plan_->execute(stream, set.inputs[0], set.outputs[0]);
  }

  SobelSpec spec_;
  std::optional<SobelPlan> plan_;
};

Case case_of(std::int64_t side, const char* name, SobelMethod method) {
  const SobelSpec spec{PixelType::u8, {side, side, 1}, method};
  Case made;
  made.suite = "sobel";
  made.name = name;
  made.size = spec.shape;
  made.yardstick = "plain, nine reads";
  made.unit = "pixels";
  made.operations = static_cast<double>(spec.shape.pixels());
  made.max_allocation = static_cast<std::size_t>(spec.shape.pixels()) * sizeof(float);
  made.memory_bytes = made.max_allocation / 4 * 5;
  made.bytes = static_cast<double>(made.memory_bytes);
  made.on_device = [spec](const Device& device) {
    return std::make_unique<SobelWork>(device, spec);
  };
  return made;
}

}  // namespace

std::vector<Case> sobel_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({1024, 2048, 4096})) {
    cases.push_back(case_of(side, "packed", SobelMethod::packed));
    cases.push_back(case_of(side, "plain, nine reads", SobelMethod::plain));
  }
  return cases;
}

}  // namespace warpalign::program::bench
