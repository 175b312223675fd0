// Suite: bilinear interpolation of complex data at given points, in the interview text's four
// forms: on the CPU, from memory, by texture fetches, by texture filtering.
#include "bench/spline_problem.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"
#include "options/rotation.hpp"
#include "reference/spline/cpu_forms.hpp"

#include <warpalign/backend/stages/spline/complex_bilinear.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

namespace warpalign::program::bench {
namespace {

using Complex = std::complex<float>;

/// One coordinate of the sampling points: a grid rotated by 17 degrees.
Pixels points(const Shape& shape, bool of_x) {
  const Affine rotation = rotation_about(centre_of(shape), 17);
  const auto count = static_cast<std::size_t>(shape.pixels());
  auto bytes = std::make_shared<std::vector<std::byte>>(count * sizeof(float));
  auto* values = reinterpret_cast<float*>(bytes->data());
  for (std::int64_t i = 0; i < shape.plane(); ++i) {
    const Point p =
        rotation({static_cast<double>(i % shape.width), static_cast<double>(i / shape.width)});
    values[i] = static_cast<float>(of_x ? p.x : p.y);
  }
  return bytes;
}

/// The true value in double precision. Neighbours outside the image count as 0.
std::complex<double> truth_at(const Complex* image, const Shape& shape, double x, double y) {
  const double i = std::floor(x);
  const double j = std::floor(y);
  const auto at = [&](double u, double v) -> std::complex<double> {
    const bool inside = u >= 0 && v >= 0 && u < static_cast<double>(shape.width) &&
                        v < static_cast<double>(shape.height);
    if (!inside) return 0;
    return image[static_cast<std::int64_t>(v) * shape.width + static_cast<std::int64_t>(u)];
  };
  const double a = x - i;
  const double b = y - j;
  return (1 - b) * ((1 - a) * at(i, j) + a * at(i + 1, j)) +
         b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1));
}

Verdict check(const Shape& shape, const Pixels& image, const Pixels& x, const Pixels& y,
              const std::vector<Complex>& found, double tolerance) {
  Verdict verdict{0, tolerance, "double precision, at sampled points"};
  for (const auto& [column, row, slice] : sample_pixels(shape, 1000)) {
    const auto at = static_cast<std::size_t>(row * shape.width + column);
    const std::complex<double> truth =
        truth_at(values_of<Complex>(image), shape, static_cast<double>(values_of<float>(x)[at]),
                 static_cast<double>(values_of<float>(y)[at]));
    const double error = std::abs(std::complex<double>(found[at]) - truth);
    if (!(error <= verdict.error)) verdict.error = error;
  }
  return verdict;
}

/// The tolerance. Single precision: for values from 0 to 1. Texture filtering: 8 fractional bits
/// along each of two axes, half a pixel added to coordinates of up to `side`, and complex numbers
/// that differ by up to sqrt(2).
double tolerance_of(BilinearForm form, std::int64_t side) {
  if (form != BilinearForm::texture_filter) return 2e-6;
  return 2 * std::numbers::sqrt2 * (1.0 / 256 + static_cast<double>(side) * 0x1p-23);
}

class ComplexBilinearWork final : public StageWork {
 public:
  ComplexBilinearWork(const Device& device, const ComplexBilinearSpec& spec)
      : StageWork(device,
                  {{PixelType::c32, spec.image, noise(PixelType::c32, spec.image)},
                   {PixelType::f32, spec.output, points(spec.output, true)},
                   {PixelType::f32, spec.output, points(spec.output, false)}},
                  {{PixelType::c32, spec.output}}),
        spec_(spec) {}

  void make_plans() override { plan_.emplace(device(), spec_); }

  Verdict verify(Stream& stream) override {
    return check(spec_.image, input(0).pixels, input(1).pixels, input(2).pixels,
                 result<Complex>(stream), tolerance_of(spec_.form, spec_.image.width));
  }

 private:
  void run_on(Stream& stream, Set& set) override {
    plan_->execute(stream, set.inputs[0], set.inputs[1], set.inputs[2], set.outputs[0]);
  }

  ComplexBilinearSpec spec_;
  std::optional<ComplexBilinearPlan> plan_;
};

class HostComplexBilinear final : public HostWork {
 public:
  explicit HostComplexBilinear(const Shape& shape)
      : shape_(shape),
        image_(noise(PixelType::c32, shape)),
        x_(points(shape, true)),
        y_(points(shape, false)) {}

  void prepare() override { output_.resize(static_cast<std::size_t>(shape_.pixels())); }

  void run() override {
    const int width = static_cast<int>(shape_.width);
    const int height = static_cast<int>(shape_.height);
    reference::bilinear_complex(output_.data(), values_of<Complex>(image_), values_of<float>(x_),
                                values_of<float>(y_), width, height, width, height);
  }

  Verdict verify() override {
    return check(shape_, image_, x_, y_, output_,
                 tolerance_of(BilinearForm::global_memory, shape_.width));
  }

 private:
  Shape shape_;
  Pixels image_;
  Pixels x_;
  Pixels y_;
  std::vector<Complex> output_;
};

Case case_of(const Shape& shape, const char* name, BilinearForm form) {
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "complex_bilinear";
  made.name = name;
  made.size = shape;
  made.yardstick = "from memory";
  made.unit = "interpolations";
  made.operations = static_cast<double>(pixels);
  made.max_allocation = pixels * size_of(PixelType::c32);
  made.memory_bytes = 4 * made.max_allocation;  // a texture's own copy included
  made.bytes = 3.0 * static_cast<double>(made.max_allocation);
  made.on_device = [shape, form](const Device& device) {
    return std::make_unique<ComplexBilinearWork>(device, ComplexBilinearSpec{shape, shape, form});
  };
  if (form == BilinearForm::global_memory) {
    made.on_host = [shape] { return std::make_unique<HostComplexBilinear>(shape); };
  }
  return made;
}

}  // namespace

std::vector<Case> complex_bilinear_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({1024, 2048})) {
    const Shape shape{side, side, 1};
    cases.push_back(case_of(shape, "from memory", BilinearForm::global_memory));
    cases.push_back(case_of(shape, "texture fetches", BilinearForm::texture_fetch));
    cases.push_back(case_of(shape, "texture filtering", BilinearForm::texture_filter));
  }
  return cases;
}

}  // namespace warpalign::program::bench
