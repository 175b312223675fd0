// Suite: the two-dimensional FFT of real images, forward and inverse, of one image and of two at
// once: a lower bound for the time of a registration.
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/stages/fft.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <optional>

namespace warpalign::program::bench {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> phasors(std::int64_t n, std::int64_t frequency) {
  std::vector<Complex> factors(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const double part = static_cast<double>(k * frequency % n) / static_cast<double>(n);
    factors[static_cast<std::size_t>(k)] = std::polar(1.0, -2 * std::numbers::pi * part);
  }
  return factors;
}

/// One frequency of the first image, computed from the definition.
Complex frequency_of(const float* image, const Shape& shape, std::int64_t u, std::int64_t v) {
  const std::vector<Complex> along_x = phasors(shape.width, u);
  const std::vector<Complex> along_y = phasors(shape.height, v);
  Complex sum = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    Complex row = 0;
    for (std::int64_t x = 0; x < shape.width; ++x) {
      row += static_cast<double>(image[y * shape.width + x]) * along_x[static_cast<std::size_t>(x)];
    }
    sum += row * along_y[static_cast<std::size_t>(y)];
  }
  return sum;
}

Slot real_slot(const Shape& shape) { return {PixelType::f32, shape, noise(PixelType::f32, shape)}; }
Slot spectrum_slot(const Shape& shape) {
  return {PixelType::c32, RealFftPlan::half_spectrum(shape)};
}

class ForwardWork final : public StageWork {
 public:
  ForwardWork(const Device& device, const Shape& shape)
      : StageWork(device, {real_slot(shape)}, {spectrum_slot(shape)}), shape_(shape) {}

  void make_plans() override { plan_.emplace(device(), RealFftSpec{shape_}); }

  Verdict verify(Stream& stream) override {
    const auto found = result<std::complex<float>>(stream);
    const auto* image = values_of<float>(input(0).pixels);
    // Relative to the image's norm, which is the RMS of its spectrum: a few rounding errors of
    // single precision.
    double squares = 0;
    for (std::int64_t i = 0; i < shape_.plane(); ++i) {
      squares += static_cast<double>(image[i]) * static_cast<double>(image[i]);
    }
    Verdict verdict{0, 1e-5 * std::sqrt(squares), "the definition, at sampled frequencies"};
    const std::int64_t columns = shape_.width / 2 + 1;
    for (const std::int64_t k : {1, 3, 7}) {
      const std::int64_t u = k * columns / 8;
      const std::int64_t v = (k * 5 % 8) * shape_.height / 8;
      const Complex truth = frequency_of(image, shape_, u, v);
      const Complex value = found[static_cast<std::size_t>(v * columns + u)];
      const double error = std::abs(value - truth);
      if (!(error <= verdict.error)) verdict.error = error;
    }
    return verdict;
  }

 private:
  void run_on(Stream& stream, Set& set) override {
    plan_->forward(stream, set.inputs[0], set.outputs[0]);
  }

  Shape shape_;
  std::optional<RealFftPlan> plan_;
};

/// The inputs are spectra of noise. An inverse transform destroys its input, so later runs
/// transform the remains of earlier ones.
class InverseWork final : public StageWork {
 public:
  InverseWork(const Device& device, const Shape& shape)
      : StageWork(device,
                  {{PixelType::c32, RealFftPlan::half_spectrum(shape),
                    noise(PixelType::c32, RealFftPlan::half_spectrum(shape))}},
                  {{PixelType::f32, shape}}),
        shape_(shape) {}

  void make_plans() override { plan_.emplace(device(), RealFftSpec{shape_}); }

  Verdict verify(Stream& stream) override {
    const Pixels pixels = noise(PixelType::f32, shape_);
    const auto* image = values_of<float>(pixels);
    Image real = device().make_image(PixelType::f32, shape_);
    stream.upload(image, real.size_bytes(), real.buffer());
    plan_->forward(stream, real, first_set().inputs[0]);
    const std::vector<float> found = result<float>(stream);
    Verdict verdict{0, 1e-5, "the image whose spectrum it is"};
    const double gain = static_cast<double>(shape_.plane());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double error =
          std::abs(static_cast<double>(found[i]) / gain - static_cast<double>(image[i]));
      if (!(error <= verdict.error)) verdict.error = error;
    }
    return verdict;
  }

 private:
  void run_on(Stream& stream, Set& set) override {
    plan_->inverse(stream, set.inputs[0], set.outputs[0]);
  }

  Shape shape_;
  std::optional<RealFftPlan> plan_;
};

template <class Transform>
Case case_of(const std::string& name, const Shape& shape) {
  Case made;
  made.suite = "fft";
  made.name = name;
  made.size = {shape.width, shape.height, 1};
  made.unit = "images";
  made.operations = static_cast<double>(shape.depth);
  made.max_allocation = static_cast<std::size_t>(RealFftPlan::half_spectrum(shape).pixels()) *
                        size_of(PixelType::c32);
  made.bytes = static_cast<double>(made.max_allocation) +
               static_cast<double>(shape.pixels()) * sizeof(float);
  made.memory_bytes = 4 * made.max_allocation;  // includes the FFT library's scratch memory
  made.on_device = [shape](const Device& device) {
    return std::make_unique<Transform>(device, shape);
  };
  return made;
}

}  // namespace

std::vector<Case> fft_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512, 1024, 2048, 4096})) {
    cases.push_back(case_of<ForwardWork>("forward", {side, side, 1}));
    cases.push_back(case_of<InverseWork>("inverse", {side, side, 1}));
    cases.push_back(case_of<InverseWork>("inverse, two at once", {side, side, 2}));
  }
  return cases;
}

}  // namespace warpalign::program::bench
