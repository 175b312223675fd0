// `warpalign prefilter`: known coefficients.
#include "program/arrays.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

namespace warpalign::test {
namespace {

using namespace program;

Array filtered(const Array& input, const std::vector<std::string>& options) {
  const ScratchFolder folder;
  save_npy(folder / "in.npy", input);
  std::vector<std::string> arguments{"prefilter", folder / "in.npy", folder / "out.npy"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  run_successfully(arguments);
  return load_npy(folder / "out.npy");
}

TEST_CASE("a constant stays constant, in every dimension and mode") {
  require_test_device();
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{50}, {20, 30}, {6, 7, 8}}) {
    Array input = make_array(extents, PixelType::u8);
    for (std::uint8_t& sample : input.samples<std::uint8_t>()) sample = 100;
    for (const char* boundary :
         {"mirror", "reflect", "constant", "wrap", "grid-wrap", "nearest", "grid-constant"}) {
      CAPTURE(boundary);
      const Array output = filtered(input, {"--boundary", boundary, "--cval", "100"});
      CHECK(output.type == PixelType::f32);
      for (const float value : output.samples<float>()) {
        CHECK(std::abs(value - 100.0F) < 1e-4F);
      }
    }
  }
}

TEST_CASE("the coefficients of a single 1 are the paper's closed form") {
  require_test_device();
  constexpr int middle = 32;
  Array input = make_array({2 * middle + 1}, PixelType::f32);
  input.samples<float>()[middle] = 1;
  const double root = std::sqrt(3.0);
  for (const char* method : {"exact", "iir:line"}) {
    const Array output = filtered(input, {"--prefilter", method});
    for (int k = -middle; k <= middle; ++k) {
      CHECK(std::abs(
                static_cast<double>(output.samples<float>()[static_cast<std::size_t>(middle + k)]) -
                root * std::pow(root - 2, std::abs(k))) < 4e-7 * root);
    }
  }
  const Array fir = filtered(input, {"--prefilter", "fir:5"});
  double sum = 0;
  for (const float value : fir.samples<float>()) sum += static_cast<double>(value);
  CHECK(sum == doctest::Approx(1).epsilon(1e-6));
  CHECK(fir.samples<float>()[middle + 3] == 0);
  CHECK(fir.samples<float>()[middle + 2] != 0);
}

TEST_CASE("nearest and grid-constant add a margin; the others keep the shape") {
  require_test_device();
  const Array input = random_array({9, 11}, PixelType::f32);
  const std::vector<std::int64_t> with_margin{9 + 26, 11 + 26};
  CHECK(filtered(input, {"--boundary", "nearest"}).extents == with_margin);
  CHECK(filtered(input, {"--boundary", "grid-constant"}).extents == with_margin);
  CHECK(filtered(input, {"--boundary", "wrap"}).extents == input.extents);
  CHECK(filtered(input, {"--degree", "2", "--boundary", "nearest"}).extents ==
        std::vector<std::int64_t>{9 + 20, 11 + 20});
}

TEST_CASE("coefficients of complex samples are complex, and evaluate to the samples") {
  require_test_device();
  const ScratchFolder folder;
  const Array input = random_array({10, 12}, PixelType::c32);
  const Array output = filtered(input, {"--degree", "5"});
  CHECK(output.type == PixelType::c32);
  save_npy(folder / "coefficients.npy", output);
  run_successfully({"resample", folder / "coefficients.npy", folder / "back.npy", "--degree", "5",
                    "--prefilter", "none", "--zoom", "1"});
  CHECK(max_difference(load_npy(folder / "back.npy"), input) < 2e-5);
}

}  // namespace
}  // namespace warpalign::test
