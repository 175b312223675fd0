// Suite: the error of truncated prefilters. Champagnat & Le Sant, figure 2: the RMS error after 36
// rotations by 10 degrees, against the length of the FIR prefilter. `warpalign experiment
// rotations` does the same with the user's image.
#include "bench/pixels.hpp"
#include "bench/spline_problem.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"
#include "options/rotation.hpp"

#include <cmath>

namespace warpalign::program::bench {
namespace {

constexpr int steps = 36;
constexpr double degrees = 10;
constexpr float grey_levels = 255;

/// The scene with values from 0 to 1.
Pixels unit_scene(std::int64_t side) {
  const Pixels levels = scene(side);
  auto scaled = std::make_shared<std::vector<std::byte>>(*levels);
  auto* values = reinterpret_cast<float*>(scaled->data());
  for (std::int64_t i = 0; i < side * side; ++i) values[i] /= grey_levels;
  return scaled;
}

class TruncationWork final : public StageWork {
 public:
  TruncationWork(const Device& device, const SplineProblem& step)
      : StageWork(device,
                  {{PixelType::f32, step.images.shape, unit_scene(step.images.shape.width)}},
                  {{PixelType::f32, step.images.shape}}),
        step_(step),
        coefficients_(device.make_image(PixelType::f32, step.images.shape)),
        between_(device.make_image(PixelType::f32, step.images.shape)) {}

  void make_plans() override {
    const auto& [spline, images, output, transform] = step_;
    prefilter_.emplace(device(), PrefilterSpec{.spline = spline, .images = images});
    evaluation_.emplace(device(),
                        InterpolateSpec{.spline = spline, .images = images, .output = output});
  }

  /// Checks the first step against double precision, then measures the error after all of them.
  Verdict verify(Stream& stream) override {
    const auto* samples = values_of<float>(input(0).pixels);
    rotate(stream, first_set().inputs[0], between_);
    std::vector<float> once(static_cast<std::size_t>(step_.images.shape.pixels()));
    stream.download(between_, once.data(), once.size() * sizeof(float));
    rms_ = rms_in_disc(result<float>(stream), samples);
    return check_spline(step_, samples, once);
  }

  [[nodiscard]] Quality quality() const override { return {"rms_grey_levels", rms_}; }

 private:
  void rotate(Stream& stream, const Image& from, Image& to) {
    prefilter_->execute(stream, from, coefficients_);
    evaluation_->execute(stream, coefficients_, step_.output_to_input, to);
  }

  void run_on(Stream& stream, Set& set) override {
    // The number of steps is even, so that the last one ends in the output.
    static_assert(steps % 2 == 0);
    rotate(stream, set.inputs[0], between_);
    rotate(stream, between_, set.outputs[0]);
    for (int i = 2; i < steps; i += 2) {
      rotate(stream, set.outputs[0], between_);
      rotate(stream, between_, set.outputs[0]);
    }
  }

  /// Measured within 0.8 of the largest radius, which nothing from beyond the edges reaches.
  [[nodiscard]] double rms_in_disc(const std::vector<float>& found, const float* original) const {
    const Point centre = centre_of(step_.images.shape);
    const double radius = 0.8 * centre.x;
    double squares = 0;
    double count = 0;
    for (std::int64_t i = 0; i < step_.images.shape.plane(); ++i) {
      const double x = static_cast<double>(i % step_.images.shape.width) - centre.x;
      const double y = static_cast<double>(i / step_.images.shape.width) - centre.y;
      if (x * x + y * y > radius * radius) continue;
      const double d = static_cast<double>(found[static_cast<std::size_t>(i)] - original[i]);
      squares += d * d;
      ++count;
    }
    return static_cast<double>(grey_levels) * std::sqrt(squares / count);
  }

  SplineProblem step_;
  double rms_ = 0;
  Image coefficients_;
  Image between_;
  std::optional<PrefilterPlan> prefilter_;
  std::optional<InterpolatePlan> evaluation_;
};

Case case_of(std::int64_t side, PrefilterMethod method, int taps) {
  SplineProblem step;
  step.images.shape = {side, side, 1};
  step.output = step.images.shape;
  step.spline.prefilter = method;
  step.spline.taps = taps;
  step.spline.precision = Precision::full;
  step.output_to_input = rotation_about(centre_of(step.images.shape), degrees);
  Case made;
  made.suite = "truncation";
  made.name = method == PrefilterMethod::fir
                  ? "fir:" + std::to_string(taps)
                  : (method == PrefilterMethod::exact ? "exact" : "iir:line");
  made.size = step.images.shape;
  made.yardstick = "exact";
  made.unit = "rotations";
  made.operations = steps;
  made.max_allocation = static_cast<std::size_t>(step.images.shape.pixels()) * sizeof(float);
  made.bytes = 2.0 * steps * static_cast<double>(made.max_allocation);
  made.memory_bytes = 5 * made.max_allocation;
  made.on_device = [step](const Device& device) {
    return std::make_unique<TruncationWork>(device, step);
  };
  return made;
}

}  // namespace

std::vector<Case> truncation_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512})) {
    for (const int taps : {5, 7, 9, 11, 13, 15, 21}) {
      cases.push_back(case_of(side, PrefilterMethod::fir, taps));
    }
    cases.push_back(case_of(side, PrefilterMethod::iir_line, 0));
    cases.push_back(case_of(side, PrefilterMethod::exact, 0));
  }
  return cases;
}

}  // namespace warpalign::program::bench
