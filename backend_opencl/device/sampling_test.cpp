// Tests a device's texture unit at a few points whose values are known.
#include "device/sampling_test.hpp"

#include "device/device_list.hpp"
#include "device/kernel.hpp"
#include "device/texture.hpp"
#include "embedded_kernels.hpp"

#include <array>
#include <cmath>
#include <cstdlib>

namespace warpalign::opencl {

namespace {

constexpr const char* sampling_stage = "sampling test";
constexpr int side = 4;
using Pixels = std::array<float, side * side>;

constexpr std::array points{cl_float2{{1.0F, 2.0F}}, cl_float2{{1.25F, 0.5F}},
                            cl_float2{{2.7F, 1.1F}}, cl_float2{{-0.5F, 1.0F}},
                            cl_float2{{3.4F, 3.2F}}, cl_float2{{-0.25F, -0.75F}},
                            cl_float2{{5.0F, -3.0F}}};
using Values = std::array<float, points.size()>;

float pixel(const Pixels& pixels, int x, int y) {
  if (x < 0 || x >= side || y < 0 || y >= side) return 0;
  return pixels[static_cast<std::size_t>(y * side + x)];
}

float expected(const Pixels& pixels, cl_float2 at) {
  const float x = std::floor(at.s[0]);
  const float y = std::floor(at.s[1]);
  const float a = at.s[0] - x;
  const float b = at.s[1] - y;
  const int ix = static_cast<int>(x);
  const int iy = static_cast<int>(y);
  const float upper = (1 - a) * pixel(pixels, ix, iy) + a * pixel(pixels, ix + 1, iy);
  const float lower = (1 - a) * pixel(pixels, ix, iy + 1) + a * pixel(pixels, ix + 1, iy + 1);
  return (1 - b) * upper + b * lower;
}

Values sampled(Context& context, const Pixels& pixels) {
  const CallSite site = context.call_site(sampling_stage);
  const Texture texture = make_texture(context, {.shape = {side, side, 1}}, sampling_stage);
  const Handle<cl_command_queue> queue = context.service_queue();
  const std::array<std::size_t, 3> origin{0, 0, 0};
  const std::array<std::size_t, 3> region{side, side, 1};
  check(clEnqueueWriteImage(queue.get(), texture.image.get(), CL_TRUE, origin.data(), region.data(),
                            0, 0, pixels.data(), 0, nullptr, nullptr),
        "clEnqueueWriteImage", site);
  const Handle<cl_mem> at = make_buffer(context, sizeof points, sampling_stage);
  check(clEnqueueWriteBuffer(queue.get(), at.get(), CL_TRUE, 0, sizeof points, points.data(), 0,
                             nullptr, nullptr),
        "clEnqueueWriteBuffer", site);
  const Handle<cl_mem> result = make_buffer(context, sizeof(Values), sampling_stage);
  Kernel kernel(context, sampling_stage, kernels::sampling_test, "sampling_test");
  kernel.launch(queue.get(), covering(context, points.size()), texture.image, texture.sampler.get(),
                at, result, static_cast<cl_int>(points.size()));
  Values values{};
  check(clEnqueueReadBuffer(queue.get(), result.get(), CL_TRUE, 0, sizeof values, values.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer", site);
  return values;
}

/// Returns why the texture unit is not used; empty if it filters correctly.
std::string fault_of_texture_unit(Context& context) {
  Pixels pixels{};
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>((i * 7) % pixels.size()) + 1;
  }
  // The weights have eight fractional bits along each axis, so the error is up to half a step of
  // 1/256 times the largest difference.
  constexpr float tolerance = 2 * side * side * 0.5F / 256 + 1e-3F;
  const Values values = sampled(context, pixels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float error = std::fabs(values[i] - expected(pixels, points[i]));
    if (!(error <= tolerance)) {
      return "linear filtering of float images is off by " + std::to_string(error) +
             " in the self-test (tolerance " + std::to_string(tolerance) + ")";
    }
  }
  return {};
}

}  // namespace

void choose_sampling(Context& context) {
  DeviceInfo& info = context.info();
  info.sampling = Sampling::buffer;
  if (context.is_cpu()) {
    // Measured on PoCL: filtered reads take 4 to 6 times as long as four loads.
    info.sampling_reason = "on a CPU, loads are faster than filtered image reads";
  } else if (device_value<cl_bool>(context.id(), CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) {
    info.sampling_reason = "the device has no images";
  } else {
    try {
      info.sampling_reason = fault_of_texture_unit(context);
    } catch (const Error& reason) {
      info.sampling_reason = reason.context().call.empty()
                                 ? reason.message()
                                 : reason.context().call + ": " + reason.context().code;
    }
    if (info.sampling_reason.empty()) info.sampling = Sampling::texture;
  }
}

}  // namespace warpalign::opencl
