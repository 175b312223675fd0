// Spline tasks on devices.
#include "bench/spline_work.hpp"

#include "bench/spline_host.hpp"
#include "bench/stage_work.hpp"

#include <warpalign/stages/resample.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpalign::program::bench {
namespace {

/// The maximum number of pixels for the RMS error, evenly distributed.
double rms_error(const SplineProblem& problem, const float* input,
                 const std::vector<float>& result) {
  constexpr std::int64_t most = 1 << 16;
  const Shape& shape = problem.output;
  const std::int64_t step = std::max<std::int64_t>(shape.pixels() / most, 1) | 1;
  double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < shape.pixels(); i += step) {
    const double d =
        static_cast<double>(result[static_cast<std::size_t>(i)]) -
        true_value(problem, input,
                   {i % shape.width, i / shape.width % shape.height, i / shape.plane()});
    squares += d * d;
    ++count;
  }
  return std::sqrt(squares / static_cast<double>(count));
}

class SplineWork final : public StageWork {
 public:
  SplineWork(const Device& device, SplineProblem problem, bool with_rms)
      : StageWork(
            device,
            {{PixelType::f32, problem.images.shape, noise(PixelType::f32, problem.images.shape)}},
            {{PixelType::f32, problem.result()}}),
        problem_(std::move(problem)),
        with_rms_(with_rms) {}

  void make_plans() override {
    complete_.reset();
    const auto& [spline, images, output, transform] = problem_;
    if (spline.prefilter && problem_.has_evaluation()) {
      complete_.emplace(device(),
                        ResampleSpec{.spline = spline, .images = images, .output = output});
    } else if (spline.prefilter) {
      prefilter_.emplace(device(), PrefilterSpec{.spline = spline, .images = images});
    } else {
      evaluation_.emplace(device(),
                          InterpolateSpec{.spline = spline, .images = images, .output = output});
    }
  }

  Verdict verify(Stream& stream) override {
    const auto* samples = values_of<float>(input(0).pixels);
    const std::vector<float> found = result<float>(stream);
    if (with_rms_) rms_ = rms_error(problem_, samples, found);
    return check_spline(problem_, samples, found);
  }

  [[nodiscard]] Quality quality() const override {
    return with_rms_ ? Quality{"rms_error", rms_} : Quality{};
  }

 private:
  void run_on(Stream& stream, Set& set) override {
    const Image& input = set.inputs[0];
    Image& output = set.outputs[0];
    if (complete_) {
      complete_->execute(stream, input, problem_.output_to_input, output);
    } else if (prefilter_) {
      prefilter_->execute(stream, input, output);
    } else {
      evaluation_->execute(stream, input, problem_.output_to_input, output);
    }
  }

  SplineProblem problem_;
  bool with_rms_;
  double rms_ = 0;
  std::optional<PrefilterPlan> prefilter_;
  std::optional<InterpolatePlan> evaluation_;
  std::optional<ResamplePlan> complete_;
};

}  // namespace

Case spline_case(const SplineCase& what, const SplineProblem& problem) {
  const auto floats = [](const Shape& shape) {
    return static_cast<std::size_t>(shape.pixels()) * sizeof(float);
  };
  Case made;
  made.suite = what.suite;
  made.name = what.name;
  made.size = problem.result();
  made.yardstick = what.yardstick;
  made.unit = what.unit;
  made.operations = static_cast<double>(problem.result().pixels());
  made.bytes = static_cast<double>(floats(problem.images.shape) + floats(problem.result()));
  made.max_allocation = std::max(floats(problem.images.shape), floats(problem.result()));
  // Memory for the coefficients between two steps or passes, and for a texture's copy.
  made.memory_bytes = 3 * floats(problem.images.shape) + floats(problem.result());
  made.on_device = [problem, with_rms = what.with_rms](const Device& device) {
    return std::make_unique<SplineWork>(device, problem, with_rms);
  };
  if (what.on_host) made.on_host = [problem] { return make_host_spline(problem); };
  return made;
}

}  // namespace warpalign::program::bench
