// Wrapped memory, streams and events, on every device. The tests wrap the handles of warpalign's
// own objects; tests of objects that only a vendor's API can create are in opencl/ and cuda/.
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/interop.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/stages/sobel.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace {

using namespace warpalign;

constexpr Shape plane{96, 64, 1};

std::vector<float> waves(const Shape& shape) {
  std::vector<float> pixels(static_cast<std::size_t>(shape.pixels()));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] =
        std::sin(0.37F * static_cast<float>(i % 96)) + std::cos(0.21F * static_cast<float>(i / 96));
  }
  return pixels;
}

Image uploaded(const Device& device, Stream& stream, const std::vector<float>& pixels) {
  Image image = device.make_image(PixelType::f32, plane);
  stream.upload(pixels.data(), pixels.size() * sizeof(float), image.buffer());
  return image;
}

std::vector<float> downloaded(Stream& stream, const Image& image) {
  std::vector<float> pixels(image.size_bytes() / sizeof(float));
  stream.download(image, pixels.data(), image.size_bytes());
  return pixels;
}

/// A second image that wraps the memory of the first.
Image over(const Image& image, bool read_only = false, std::shared_ptr<void> owner = {}) {
  const std::string& backend = image.device().info().backend;
  void* handle = interop::handle_of(image.buffer(), backend);
  return interop::wrap_image(image.device(), backend, {handle, 0, read_only, std::move(owner)},
                             image.type(), image.shape());
}

Stream over(const Stream& stream) {
  const std::string& backend = stream.device().info().backend;
  return interop::wrap_stream(stream.device(), backend, interop::handle_of(stream, backend));
}

constexpr Affine rotation{0.97, -0.1, 3, 0.12, 0.96, 2};

}  // namespace

TEST_CASE("interop: wrapped memory and streams give the same results, and stay the caller's") {
  test::on_every_device([](const Device& device) {
    const std::string& backend = device.info().backend;
    Stream stream = device.make_stream();
    const Image image = uploaded(device, stream, waves(plane));
    Image expected = device.make_image(PixelType::f32, plane);
    Image memory = device.make_image(PixelType::f32, plane);
    ResamplePlan plan(device, {.images = {.shape = plane}, .output = plane});
    plan.execute(stream, image, rotation, expected);

    const Image input = over(image, true);
    Image output = over(memory);
    Stream wrapped = over(stream);
    CHECK(interop::handle_of(input.buffer(), backend) ==
          interop::handle_of(image.buffer(), backend));
    CHECK(interop::handle_of(wrapped, backend) == interop::handle_of(stream, backend));
    plan.execute(wrapped, input, rotation, output);
    CHECK(downloaded(stream, memory) == downloaded(stream, expected));
  });
}

TEST_CASE("interop: an image may begin within the caller's memory") {
  test::on_every_device([](const Device& device) {
    const std::string& backend = device.info().backend;
    Stream stream = device.make_stream();
    const std::vector<float> pixels = waves(plane);
    // a multiple of the alignment that any OpenCL device requires
    constexpr std::size_t offset = 4096;
    const std::size_t bytes = pixels.size() * sizeof(float);
    Buffer memory = device.make_buffer(offset + bytes);
    std::vector<float> all(offset / sizeof(float), -1);
    all.insert(all.end(), pixels.begin(), pixels.end());
    stream.upload(all.data(), all.size() * sizeof(float), memory);
    void* handle = interop::handle_of(memory, backend);
    const Image part =
        interop::wrap_image(device, backend, {handle, offset}, PixelType::f32, plane);
    CHECK(downloaded(stream, part) == pixels);
    const interop::UnownedMemory beyond{handle, offset + 1024};
    CHECK_THROWS_WITH_AS((void)interop::wrap_image(device, backend, beyond, PixelType::f32, plane),
                         doctest::Contains("bytes"), Error);
  });
}

TEST_CASE("interop: read-only memory is never an output") {
  test::on_every_device([](const Device& device) {
    Stream stream = device.make_stream();
    const std::vector<float> pixels = waves(plane);
    const Image image = uploaded(device, stream, pixels);
    Image read_only = over(image, true);
    Image other = device.make_image(PixelType::f32, plane);
    ResamplePlan resample(device, {.images = {.shape = plane}, .output = plane});
    const SobelPlan sobel(device, {PixelType::f32, plane});
    CHECK_THROWS_WITH_AS(resample.execute(stream, other, rotation, read_only),
                         doctest::Contains("read-only"), Error);
    CHECK_THROWS_WITH_AS(sobel.execute(stream, other, read_only), doctest::Contains("read-only"),
                         Error);
    CHECK_THROWS_WITH_AS(stream.upload(pixels.data(), 4, read_only.buffer()),
                         doctest::Contains("read-only"), Error);
    CHECK_THROWS_WITH_AS(stream.copy(other.buffer(), read_only.buffer()),
                         doctest::Contains("read-only"), Error);
    CHECK_NOTHROW(sobel.execute(stream, read_only, other));
    CHECK(downloaded(stream, image) == pixels);
  });
}

TEST_CASE("interop: an output that overlaps the input is refused") {
  test::on_every_device([](const Device& device) {
    const std::string& backend = device.info().backend;
    Stream stream = device.make_stream();
    const std::size_t bytes = static_cast<std::size_t>(plane.pixels()) * sizeof(float);
    Buffer memory = device.make_buffer(2 * bytes);  // 2 x 24 KiB
    void* handle = interop::handle_of(memory, backend);
    const auto at = [&](std::size_t offset) {
      return interop::wrap_image(device, backend, {handle, offset}, PixelType::f32, plane);
    };
    Image first = at(0);
    Image same = at(0);
    Image half = at(bytes / 2);
    Image second = at(bytes);
    const SobelPlan plan(device, {PixelType::f32, plane});
    CHECK_THROWS_WITH_AS(plan.execute(stream, first, same), doctest::Contains("overlap"), Error);
    CHECK_THROWS_WITH_AS(plan.execute(stream, first, half), doctest::Contains("overlap"), Error);
    CHECK_THROWS_WITH_AS(plan.execute(stream, second, half), doctest::Contains("overlap"), Error);
    CHECK_NOTHROW(plan.execute(stream, first, second));

    // Coordinates are read while the output is written. In one dimension they have its shape.
    constexpr Shape line{4096, 1, 1};
    const auto line_at = [&](std::size_t offset) {
      return interop::wrap_image(device, backend, {handle, offset}, PixelType::f32, line);
    };
    Image samples = device.make_image(PixelType::f32, line);
    Image coordinates = line_at(0);
    Image output = line_at(4096);
    ResamplePlan resample(device, {.images = {.shape = line, .dimensions = 1}, .output = line});
    CHECK_THROWS_WITH_AS(resample.execute(stream, samples, coordinates, output),
                         doctest::Contains("overlap"), Error);
    const RealFftPlan fft(device, {.shape = plane});
    Image spectrum = interop::wrap_image(device, backend, {handle}, PixelType::c32,
                                         RealFftPlan::half_spectrum(plane));
    CHECK_THROWS_WITH_AS(fft.forward(stream, first, spectrum), doctest::Contains("overlap"), Error);
    CHECK_THROWS_WITH_AS(fft.inverse(stream, spectrum, first), doctest::Contains("overlap"), Error);
  });
}

TEST_CASE("interop: the owner is kept as long as the object, and then released") {
  test::on_every_device([](const Device& device) {
    Stream stream = device.make_stream();
    const Image image = uploaded(device, stream, waves(plane));
    Image output = device.make_image(PixelType::f32, plane);
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> alive = owner;
    {
      Image wrapped = over(image, false, std::move(owner));
      const SobelPlan plan(device, {PixelType::f32, plane});
      plan.execute(stream, wrapped, output);
      Image moved = std::move(wrapped);
      CHECK_FALSE(alive.expired());
    }
    CHECK(alive.expired());

    owner = std::make_shared<int>(0);
    const std::weak_ptr<int> of_first = owner;
    Image assigned = over(image, false, std::move(owner));
    assigned = over(image);
    CHECK(of_first.expired());
  });
}

TEST_CASE("interop: events order streams") {
  test::on_every_device([](const Device& device) {
    Stream first = device.make_stream();
    Stream second = device.make_stream();
    Event event(device);
    CHECK(event.done());  // never recorded
    CHECK_NOTHROW(event.finish());
    CHECK_NOTHROW(event.wait(second));
    const std::vector<float> pixels = waves(plane);
    Image a = uploaded(device, first, pixels);
    Image b = device.make_image(PixelType::f32, plane);
    Image c = device.make_image(PixelType::f32, plane);
    for (int i = 0; i < 20; ++i) {  // a missing order does not fail every time
      first.copy(a.buffer(), b.buffer());
      event.record(first);
      event.wait(second);
      second.copy(b.buffer(), c.buffer());
      CHECK(downloaded(second, c) == pixels);
      const std::vector<float> zeros(pixels.size());
      first.upload(zeros.data(), zeros.size() * sizeof(float), b.buffer());
      first.finish();
    }
    event.finish();
    CHECK(event.done());
    const Device other = open_device(device.info().id);
    Stream foreign = other.make_stream();
    CHECK_THROWS_WITH_AS(event.record(foreign), doctest::Contains("belongs to"), Error);
    CHECK_THROWS_WITH_AS(event.wait(foreign), doctest::Contains("belongs to"), Error);
  });
}

TEST_CASE("interop: a registrar takes wrapped images, and waits for them") {
  test::on_every_device([](const Device& device) {
    Stream stream = device.make_stream();
    const Image reference = uploaded(device, stream, waves(plane));
    const Image moving = uploaded(device, stream, waves(plane));
    Registrar registrar(device);
    Event ready(device);
    ready.record(stream);
    registrar.wait_for(ready);
    registrar.set_reference(over(reference));  // destroyed before the next call
    const RegistrationResult result = registrar.align(over(moving));
    // The images are identical, so the result is the identity up to rounding.
    CHECK(std::abs(result.similarity.rotation_deg) < 1e-3);
    CHECK(std::abs(result.similarity.translation.x) < 1e-3);
    CHECK(std::abs(result.similarity.translation.y) < 1e-3);
  });
}

TEST_CASE("interop: handles of another backend, null and impossible sizes are refused") {
  test::on_every_device([](const Device& device) {
    const std::string& backend = device.info().backend;
    const std::string other = backend == "cuda" ? "opencl" : "cuda";
    Stream stream = device.make_stream();
    Buffer memory = device.make_buffer(1024);
    void* handle = interop::handle_of(memory, backend);
    CHECK_THROWS_WITH_AS((void)interop::wrap_buffer(device, other, {handle}, 16),
                         doctest::Contains("not of"), Error);
    CHECK_THROWS_WITH_AS((void)interop::wrap_stream(device, other, handle),
                         doctest::Contains("not of"), Error);
    CHECK_THROWS_WITH_AS((void)interop::handle_of(memory, other), doctest::Contains("not of"),
                         Error);
    CHECK_THROWS_WITH_AS((void)interop::handle_of(stream, other), doctest::Contains("not of"),
                         Error);
    CHECK_THROWS_WITH_AS((void)interop::wrap_buffer(device, backend, {nullptr}, 16),
                         doctest::Contains("null"), Error);
    CHECK_THROWS_WITH_AS((void)interop::wrap_event(device, backend, nullptr),
                         doctest::Contains("null"), Error);
    CHECK_THROWS_WITH_AS((void)interop::wrap_buffer(device, backend, {handle}, 0),
                         doctest::Contains("zero bytes"), Error);
    CHECK_THROWS_WITH_AS((void)interop::wrap_buffer(device, backend, {handle}, 1025),
                         doctest::Contains("bytes"), Error);
    CHECK_THROWS_AS((void)interop::wrap_image(device, backend, {handle}, PixelType::u8, {0, 4, 1}),
                    Error);
    CHECK_THROWS_AS((void)interop::wrap_image(device, backend, {handle}, PixelType::c32,
                                              {2147483647, 2147483647, 2147483647}),
                    Error);
    CHECK_THROWS_AS(
        (void)interop::wrap_image(device, backend, {handle}, PixelType::f32, {32, 32, 1}), Error);
  });
}
