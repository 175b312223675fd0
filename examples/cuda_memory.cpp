// A program with its own CUDA memory and stream: warpalign resamples an image there, in order with
// the program's own work and without copies.
#include <warpalign/interop/cuda.hpp>
#include <warpalign/warpalign.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr warpalign::Shape shape{640, 480};

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    throw std::runtime_error(call + (": " + std::string(cudaGetErrorString(code))));
  }
}

std::vector<float> picture() {
  std::vector<float> pixels;
  for (int y = 0; y < shape.height; ++y) {
    for (int x = 0; x < shape.width; ++x) {
      pixels.push_back(std::sin(0.05F * static_cast<float>(x)) +
                       std::cos(0.03F * static_cast<float>(y + x)));
    }
  }
  return pixels;
}

/// Rotates the image by 180 degrees about its centre, by cubic splines.
void rotate_by_180(cudaStream_t cuda_stream, const float* source, float* target) {
  using namespace warpalign;
  const Device device = cuda::open_device(0);
  Stream stream = cuda::wrap_stream(device, cuda_stream);
  const Image input = cuda::wrap_image(device, source, PixelType::f32, shape);
  Image output = cuda::wrap_image(device, target, PixelType::f32, shape);
  ResamplePlan plan(device, {.images = {.shape = shape}, .output = shape});
  const Affine rotation{-1, 0, shape.width - 1.0, 0, -1, shape.height - 1.0};
  plan.execute(stream, input, rotation, output);  // enqueued, like the program's own kernels
}

/// The largest difference between the rotated image and the pixels in reverse order.
float largest_error(const std::vector<float>& pixels, const std::vector<float>& rotated) {
  float error = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    error = std::max(error, std::abs(rotated[i] - pixels[pixels.size() - 1 - i]));
  }
  return error;
}

int run() {
  cudaStream_t stream = nullptr;
  float* source = nullptr;
  float* target = nullptr;
  const std::vector<float> pixels = picture();
  const std::size_t bytes = pixels.size() * sizeof(float);
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaMalloc(&source, bytes), "cudaMalloc");
  check(cudaMalloc(&target, bytes), "cudaMalloc");

  check(cudaMemcpyAsync(source, pixels.data(), bytes, cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  rotate_by_180(stream, source, target);
  std::vector<float> rotated(pixels.size());
  check(cudaMemcpyAsync(rotated.data(), target, bytes, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

  check(cudaFree(target), "cudaFree");
  check(cudaFree(source), "cudaFree");
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  const float error = largest_error(pixels, rotated);
  std::printf("rotated by 180 degrees; largest error %.1e\n", static_cast<double>(error));
  return error < 1e-5F ? 0 : 1;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: example_cuda_memory: there is no CUDA device\n");
    return 0;
  }
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
