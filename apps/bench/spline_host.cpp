// Spline tasks on one thread of the host.
#include "bench/spline_host.hpp"

#include "bench/pixels.hpp"
#include "reference/spline/cpu_forms.hpp"

#include <algorithm>
#include <utility>

namespace warpalign::program::bench {
namespace {

/// About how many pixels of a volume are evaluated; a larger volume is evaluated in part, by
/// slices.
constexpr std::int64_t max_in_volume = std::int64_t{1} << 21;

class HostSpline final : public HostWork {
 public:
  explicit HostSpline(SplineProblem problem)
      : problem_(std::move(problem)),
        input_(noise(PixelType::f32, problem_.images.shape)),
        slices_(problem_.result().depth) {
    if (problem_.images.dimensions == 3 && problem_.has_evaluation()) {
      const std::int64_t fitting = max_in_volume / problem_.output.plane();
      slices_ = std::clamp<std::int64_t>(fitting, 1, problem_.output.depth);
    }
  }

  void prepare() override {
    const float* samples = values_of<float>(input_);
    coefficients_.assign(samples, samples + problem_.images.shape.pixels());
    if (problem_.has_evaluation()) {
      output_.resize(static_cast<std::size_t>(problem_.output.plane() * slices_));
    }
  }

  void run() override {
    const Shape& image = problem_.images.shape;
    if (problem_.spline.prefilter) {
      reference::recursive_prefilter(coefficients_.data(), image.width, image.height, image.depth);
    }
    if (problem_.has_evaluation()) evaluate();
  }

  [[nodiscard]] double share() const override {
    return static_cast<double>(slices_) / static_cast<double>(problem_.result().depth);
  }

  Verdict verify() override {
    return check_host_spline(problem_, values_of<float>(input_),
                             problem_.has_evaluation() ? output_ : coefficients_, slices_);
  }

 private:
  void evaluate() {
    const Shape& image = problem_.images.shape;
    const Shape& output = problem_.output;
    const float* c = coefficients_.data();
    std::size_t i = 0;
    for (std::int64_t z = 0; z < slices_; ++z) {
      for (std::int64_t y = 0; y < output.height; ++y) {
        for (std::int64_t x = 0; x < output.width; ++x) {
          const Position p = read_at(problem_, {x, y, z});
          const auto px = static_cast<float>(p[0]);
          const auto py = static_cast<float>(p[1]);
          output_[i++] = problem_.images.dimensions == 2
                             ? reference::cubic_2d(c, image.width, image.height, px, py)
                             : reference::cubic_3d(c, image.width, image.height, image.depth, px,
                                                   py, static_cast<float>(p[2]));
        }
      }
    }
  }

  SplineProblem problem_;
  Pixels input_;
  std::int64_t slices_;
  std::vector<float> coefficients_;
  std::vector<float> output_;
};

}  // namespace

std::unique_ptr<HostWork> make_host_spline(const SplineProblem& problem) {
  return std::make_unique<HostSpline>(problem);
}

}  // namespace warpalign::program::bench
