// A program with its own OpenCL memory and queue: warpalign resamples an image there, in order with
// the program's own commands and without copies.
#include <warpalign/interop/opencl.hpp>
#include <warpalign/warpalign.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr warpalign::Shape shape{640, 480};

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw std::runtime_error(call + (": " + std::to_string(status)));
}

cl_device_id first_device() {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  throw std::runtime_error("there is no OpenCL device");
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
void rotate_by_180(cl_context context, cl_device_id id, cl_command_queue queue, cl_mem source,
                   cl_mem target) {
  using namespace warpalign;
  const Device device = opencl::open_device(context, id);
  Stream stream = opencl::wrap_stream(device, queue);
  const Image input = opencl::wrap_image(device, source, PixelType::f32, shape);
  Image output = opencl::wrap_image(device, target, PixelType::f32, shape);
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
  const cl_device_id id = first_device();
  cl_int status = CL_SUCCESS;
  const cl_context context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  const cl_command_queue queue = clCreateCommandQueue(context, id, 0, &status);
  check(status, "clCreateCommandQueue");
  const std::vector<float> pixels = picture();
  const std::size_t bytes = pixels.size() * sizeof(float);
  const cl_mem source = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  check(status, "clCreateBuffer");
  const cl_mem target = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  check(status, "clCreateBuffer");

  check(clEnqueueWriteBuffer(queue, source, CL_FALSE, 0, bytes, pixels.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  rotate_by_180(context, id, queue, source, target);
  std::vector<float> rotated(pixels.size());
  check(clEnqueueReadBuffer(queue, target, CL_TRUE, 0, bytes, rotated.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");

  clReleaseMemObject(target);
  clReleaseMemObject(source);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  const float error = largest_error(pixels, rotated);
  std::printf("rotated by 180 degrees; largest error %.1e\n", static_cast<double>(error));
  return error < 1e-5F ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
