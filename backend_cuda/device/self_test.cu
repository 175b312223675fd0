// Tests that a device must pass before it becomes available.
#include "device/self_test.hpp"

#include "device/errors.hpp"

#include <warpalign/error.hpp>

#include <cuda_runtime.h>

#include <cmath>
#include <vector>

namespace warpalign::cuda {
namespace {

__global__ void probe_kernel() {}

constexpr Affine shift{1, 0, 0.5, 0, 1, 0.25};  // fractions that 8 bits represent exactly

// The pixels of the test image; 0 outside.
double pixel(const Shape& shape, std::int64_t x, std::int64_t y) {
  if (x < 0 || y < 0 || x >= shape.width || y >= shape.height) return 0;
  return static_cast<double>((x * 37 + y * 101) % 64 + 1);
}

double expected(const Shape& shape, std::int64_t x, std::int64_t y) {
  const double upper = (pixel(shape, x, y) + pixel(shape, x + 1, y)) / 2;
  const double lower = (pixel(shape, x, y + 1) + pixel(shape, x + 1, y + 1)) / 2;
  return 0.75 * upper + 0.25 * lower;
}

bool warps_correctly(backend::Driver& driver, const Shape& shape) {
  std::vector<float> pixels;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      pixels.push_back(static_cast<float>(pixel(shape, x, y)));
    }
  }
  const std::size_t bytes = pixels.size() * sizeof(float);
  const auto input = driver.allocate_image(PixelType::f32, shape);
  const auto output = driver.allocate_image(PixelType::f32, shape);
  const auto queue = driver.make_queue(false, backend::QueuePriority::high);
  const auto warp = driver.make(WarpSpec{shape, shape});
  queue->upload({pixels.data(), 1, bytes, bytes}, *input);
  warp->enqueue(*queue, *input, {&shift, 1}, *output, 0);
  queue->download(*output, pixels.data(), bytes);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto x = static_cast<std::int64_t>(i) % shape.width;
    const auto y = static_cast<std::int64_t>(i) / shape.width;
    if (!(std::abs(static_cast<double>(pixels[i]) - expected(shape, x, y)) < 0.01)) return false;
  }
  return true;
}

}  // namespace

void require_kernels(const Context& context) {
  context.activate();
  cudaFuncAttributes attributes{};
  const cudaError_t code =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&probe_kernel));
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  ErrorContext where;
  where.backend = "cuda";
  where.device = context.name;
  where.call = "cudaFuncGetAttributes";
  where.code = cudaGetErrorName(code);
  where.advice = advice_for(code);
  throw Error(ErrorKind::device_unavailable,
              "this build's kernels cannot run on the device: " + describe(code), std::move(where));
}

std::string texture_fault(backend::Driver& driver) {
  if (!warps_correctly(driver, {64, 5, 1}))
    return "the texture unit returns wrong values of linear memory";
  if (!warps_correctly(driver, {13, 5, 1})) return "the texture unit returns wrong array values";
  return {};
}

}  // namespace warpalign::cuda
