// A second execution on the caller's memory and queue allocates nothing. It uses other images than
// the first one. The tests wrap the handles of warpalign's own objects, on every device.
#include "allocations/check.hpp"
#include "support/devices.hpp"

#include <warpalign/interop.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/stages/sobel.hpp>

#include <array>
#include <vector>

namespace {

using namespace warpalign;

constexpr Shape plane{96, 64, 1};
constexpr Affine turn{0.97, -0.1, 3, 0.12, 0.96, 2};

Image wrapped(const Image& image) {
  const std::string& backend = image.device().info().backend;
  return interop::wrap_image(image.device(), backend, {interop::handle_of(image.buffer(), backend)},
                             image.type(), image.shape());
}

Stream wrapped(const Stream& stream) {
  const std::string& backend = stream.device().info().backend;
  return interop::wrap_stream(stream.device(), backend, interop::handle_of(stream, backend));
}

/// The memory of two images, and images that wrap it.
struct Images {
  Images(const Device& device, PixelType type, const Shape& shape)
      : memory{device.make_image(type, shape), device.make_image(type, shape)},
        over{wrapped(memory[0]), wrapped(memory[1])} {
    Stream stream = device.make_stream();
    const std::vector<unsigned char> zeros(memory[0].size_bytes());
    for (Image& image : memory) stream.upload(zeros.data(), zeros.size(), image.buffer());
  }
  std::array<Image, 2> memory;
  std::array<Image, 2> over;
};

/// Runs execute(0) and then execute(1), which must allocate nothing.
template <class Execute>
void check(const char* name, const Device& device, Stream& stream, Execute execute) {
  CAPTURE(name);
  execute(0U);
  test::allocates_nothing(device, [&] { execute(1U); });
  stream.finish();
}

}  // namespace

TEST_CASE("allocations: memory and queues of the caller") {
  test::on_every_device([](const Device& device) {
    const Stream queue = device.make_stream();
    Stream stream = wrapped(queue);
    Images input(device, PixelType::f32, plane);
    Images output(device, PixelType::f32, plane);
    for (const Precision precision : {Precision::full, Precision::texture}) {
      for (const int degree : {1, 3, 5}) {
        ResampleSpec spec{
            .spline = {.degree = degree}, .images = {.shape = plane}, .output = plane};
        spec.spline.precision = precision;
        if (degree == 1) spec.spline.prefilter.reset();
        if (degree == 5 && precision == Precision::texture) continue;  // not supported
        ResamplePlan plan(device, spec);
        check("resample", device, stream,
              [&](std::size_t i) { plan.execute(stream, input.over[i], turn, output.over[i]); });
      }
    }
    const SobelPlan sobel(device, {PixelType::f32, plane});
    check("sobel", device, stream,
          [&](std::size_t i) { sobel.execute(stream, input.over[i], output.over[i]); });
    Images spectrum(device, PixelType::c32, RealFftPlan::half_spectrum(plane));
    RealFftPlan fft(device, {.shape = plane});
    check("fft", device, stream,
          [&](std::size_t i) { fft.forward(stream, input.over[i], spectrum.over[i]); });
    std::array<Event, 2> events{Event(device), Event(device)};
    check("events", device, stream, [&](std::size_t i) {
      events[i].record(stream);
      events[i].wait(stream);
    });
  });
}

TEST_CASE("allocations: wrapping the same memory again allocates nothing on the device") {
  test::on_every_device([](const Device& device) {
    const Image memory = device.make_image(PixelType::f32, plane);
    { const Image first = wrapped(memory); }
    const auto found = test::allocations_of(device, [&] { const Image again = wrapped(memory); });
    CHECK(found.on_device == 0);
  });
}
