// CUDA streams and memory of the program. Every case is skipped, by name, if there is no device.
#include "support/skipped.hpp"

#include <warpalign/error.hpp>
#include <warpalign/interop/cuda.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/stages/sobel.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace warpalign;
using namespace std::chrono_literals;

constexpr Shape plane{96, 64, 1};
constexpr Shape odd_plane{61, 43, 1};  // rows that a texture cannot read in place
constexpr std::size_t count = 96 * 64;
constexpr std::size_t bytes = count * sizeof(float);
constexpr Affine rotation{0.97, -0.1, 3, 0.12, 0.96, 2};

void check_cuda(cudaError_t code) { REQUIRE(std::string(cudaGetErrorName(code)) == "cudaSuccess"); }

std::vector<float> waves(float phase = 0) {
  std::vector<float> pixels(count);
  for (std::size_t i = 0; i < count; ++i) {
    pixels[i] = std::sin(0.37F * static_cast<float>(i % 96) + phase) +
                std::cos(0.21F * static_cast<float>(i / 96));
  }
  return pixels;
}

/// The program's device memory, filled from an offset on.
class Memory {
 public:
  explicit Memory(const std::vector<float>& pixels, std::size_t offset = 0) : offset_(offset) {
    check_cuda(cudaMalloc(&base_, offset + pixels.size() * sizeof(float)));
    check_cuda(
        cudaMemcpy(get(), pixels.data(), pixels.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  explicit Memory(std::size_t size) { check_cuda(cudaMalloc(&base_, size)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { static_cast<void>(cudaFree(base_)); }
  [[nodiscard]] void* get() const { return static_cast<char*>(base_) + offset_; }

 private:
  void* base_ = nullptr;
  std::size_t offset_ = 0;
};

class OwnStream {
 public:
  OwnStream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Reads on the program's stream, and waits for nothing else.
std::vector<float> read(cudaStream_t stream, const void* memory, std::size_t number = count) {
  std::vector<float> pixels(number);
  check_cuda(cudaMemcpyAsync(pixels.data(), memory, number * sizeof(float), cudaMemcpyDeviceToHost,
                             stream));
  check_cuda(cudaStreamSynchronize(stream));
  return pixels;
}

/// Blocks a stream until it is opened: commands enqueued behind the gate cannot run before.
/// Nothing may be freed meanwhile, since cudaFree waits for the device.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    const auto wait = [](void* gate) {
      while (!static_cast<Gate*>(gate)->is_open_) std::this_thread::sleep_for(1ms);
      static_cast<Gate*>(gate)->is_passed_ = true;
    };
    check_cuda(cudaLaunchHostFunc(stream, wait, this));
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    open();
    if (opener_.joinable()) opener_.join();
    while (!is_passed_) std::this_thread::sleep_for(1ms);
  }
  void open() { is_open_ = true; }
  void open_after(std::chrono::milliseconds pause) {
    opener_ = std::thread([this, pause] {
      std::this_thread::sleep_for(pause);
      open();
    });
  }
  [[nodiscard]] bool is_open() const { return is_open_; }

 private:
  std::atomic<bool> is_open_{false};
  std::atomic<bool> is_passed_{false};
  std::thread opener_;
};

/// Runs `body(device)` on the first CUDA device.
template <class Body>
void on_cuda(Body&& body) {
  std::optional<Device> device;
  try {
    device = cuda::open_device(0);
  } catch (const Error& error) {
    REQUIRE(error.kind() == ErrorKind::device_unavailable);
    return test::skip_case("no CUDA device: " + error.message());
  }
  check_cuda(cudaSetDevice(0));
  body(*device);
}

/// The rotated image, computed in warpalign's memory and on its stream.
std::vector<float> rotated_by(const Device& device, ResamplePlan& plan,
                              const std::vector<float>& pixels) {
  Stream stream = device.make_stream();
  Image input = device.make_image(PixelType::f32, plane);
  Image output = device.make_image(PixelType::f32, plane);
  stream.upload(pixels.data(), bytes, input.buffer());
  plan.execute(stream, input, rotation, output);
  std::vector<float> result(count);
  stream.download(output, result.data(), bytes);
  return result;
}

void check_refused(const char* part, const Device& device, void* pointer) {
  try {
    (void)cuda::wrap_image(device, pointer, PixelType::f32, plane);
    FAIL_CHECK("was taken: " << part);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    CHECK(std::string(error.what()).find(part) != std::string::npos);
  }
  CHECK(cudaGetLastError() == cudaSuccess);  // the program's own error check must not see it
}

}  // namespace

TEST_CASE("cuda: from the program's memory to the program's memory, on its streams") {
  on_cuda([](const Device& device) {
    ResamplePlan plan(device, {.images = {.shape = plane}, .output = plane});
    const std::vector<float> expected = rotated_by(device, plan, waves());
    const OwnStream own;
    for (cudaStream_t handle : {own.get(), cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
      CAPTURE(handle);
      const Memory source(waves());
      const Memory target(bytes);
      const Image input =
          cuda::wrap_image(device, static_cast<const void*>(source.get()), PixelType::f32, plane);
      Image output = cuda::wrap_image(device, target.get(), PixelType::f32, plane);
      Stream stream = cuda::wrap_stream(device, handle);
      CHECK(cuda::device_pointer(input) == source.get());
      CHECK(cuda::device_pointer(output) == target.get());
      CHECK(cuda::stream_of(stream) == handle);
      plan.execute(stream, input, rotation, output);
      CHECK(read(handle, target.get()) == expected);
    }
  });
}

TEST_CASE("cuda: work keeps its order with the program's own work") {
  on_cuda([](const Device& device) {
    ResamplePlan plan(device, {.images = {.shape = plane}, .output = plane});
    const std::vector<float> expected = rotated_by(device, plan, waves(1));
    const OwnStream own;
    const Memory source(waves(0));
    const Memory later(waves(1));
    const Memory target(bytes);
    const Image input = cuda::wrap_image(device, source.get(), PixelType::f32, plane);
    Image output = cuda::wrap_image(device, target.get(), PixelType::f32, plane);
    Stream stream = cuda::wrap_stream(device, own.get());
    Gate gate(own.get());
    check_cuda(
        cudaMemcpyAsync(source.get(), later.get(), bytes, cudaMemcpyDeviceToDevice, own.get()));
    plan.execute(stream, input, rotation, output);
    CHECK(cudaStreamQuery(own.get()) == cudaErrorNotReady);  // execute did not wait
    gate.open();
    CHECK(read(own.get(), target.get()) == expected);
  });
}

TEST_CASE("cuda: events of the program, and events for the program") {
  on_cuda([](const Device& device) {
    ResamplePlan plan(device, {.images = {.shape = plane}, .output = plane});
    const std::vector<float> expected = rotated_by(device, plan, waves(1));
    const OwnStream own;
    const Memory source(waves(0));
    const Memory later(waves(1));
    const Memory target(bytes);
    const Image input = cuda::wrap_image(device, source.get(), PixelType::f32, plane);
    Image output = cuda::wrap_image(device, target.get(), PixelType::f32, plane);
    Stream stream = device.make_stream();
    Event finished(device);
    cudaEvent_t written = nullptr;
    check_cuda(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
    {
      Gate gate(own.get());
      check_cuda(
          cudaMemcpyAsync(source.get(), later.get(), bytes, cudaMemcpyDeviceToDevice, own.get()));
      check_cuda(cudaEventRecord(written, own.get()));
      cuda::wrap_event(device, written).wait(stream);
      plan.execute(stream, input, rotation, output);
      finished.record(stream);
      CHECK_FALSE(finished.done());
    }
    check_cuda(cudaStreamWaitEvent(own.get(), cuda::event_of(finished), 0));
    CHECK(read(own.get(), target.get()) == expected);
    CHECK(finished.done());
    check_cuda(cudaEventDestroy(written));
  });
}

TEST_CASE("cuda: images aligned for loads only give the same results") {
  on_cuda([](const Device& device) {
    const OwnStream own;
    const Memory target(bytes);
    const Memory source(waves(), 16);
    Stream stream = cuda::wrap_stream(device, own.get());
    const Image input = cuda::wrap_image(device, source.get(), PixelType::f32, plane);
    Image output = cuda::wrap_image(device, target.get(), PixelType::f32, plane);
    for (const int degree : {1, 2, 3, 5}) {
      CAPTURE(degree);
      ResampleSpec spec{.spline = {.degree = degree}, .images = {.shape = plane}, .output = plane};
      if (degree == 1) spec.spline.prefilter.reset();
      ResamplePlan plan(device, spec);
      plan.execute(stream, input, rotation, output);
      CHECK(read(own.get(), target.get()) == rotated_by(device, plan, waves()));
    }
    // warpalign allocates the prefiltered coefficients itself, so textures may sample them.
    ResamplePlan by_texture(
        device,
        {.spline = {.precision = Precision::texture}, .images = {.shape = plane}, .output = plane});
    by_texture.execute(stream, input, rotation, output);
    CHECK(read(own.get(), target.get()) == rotated_by(device, by_texture, waves()));

    const SobelPlan sobel(device, {PixelType::f32, plane});
    const Memory aligned(waves());
    sobel.execute(stream, input, output);
    const std::vector<float> found = read(own.get(), target.get());
    sobel.execute(stream, cuda::wrap_image(device, aligned.get(), PixelType::f32, plane), output);
    CHECK(found == read(own.get(), target.get()));
  });
}

TEST_CASE("cuda: texture lookups need memory that is aligned for them") {
  on_cuda([](const Device& device) {
    if (device.info().sampling != Sampling::texture) {
      return test::skip_case("the device does not filter textures");
    }
    ResampleSpec spec{
        .spline = {.degree = 1, .prefilter = std::nullopt, .precision = Precision::texture},
        .images = {.shape = plane},
        .output = plane};
    ResamplePlan plan(device, spec);
    const OwnStream own;
    const Memory target(bytes);
    const Memory misaligned(waves(), 16);
    const Memory aligned(waves());
    Stream stream = cuda::wrap_stream(device, own.get());
    Image output = cuda::wrap_image(device, target.get(), PixelType::f32, plane);
    const auto rotate = [&](const Memory& memory) {
      plan.execute(stream, cuda::wrap_image(device, memory.get(), PixelType::f32, plane), rotation,
                   output);
    };
    CHECK_THROWS_WITH_AS(rotate(misaligned), doctest::Contains("multiple of"), Error);
    rotate(aligned);
    const std::vector<float> expected = rotated_by(device, plan, waves());
    CHECK(read(own.get(), target.get()) == expected);
    // The same memory with other content. The textures are found in the cache.
    const Memory later(waves(1));
    check_cuda(cudaMemcpy(aligned.get(), later.get(), bytes, cudaMemcpyDeviceToDevice));
    rotate(aligned);
    CHECK(read(own.get(), target.get()) == rotated_by(device, plan, waves(1)));
  });
}

TEST_CASE("cuda: transforms on the program's stream") {
  on_cuda([](const Device& device) {
    const OwnStream own;
    const Memory source(waves());
    const Shape half = RealFftPlan::half_spectrum(plane);
    const std::size_t numbers = 2 * static_cast<std::size_t>(half.pixels());
    const Memory target(numbers * sizeof(float));
    const Image input = cuda::wrap_image(device, source.get(), PixelType::f32, plane);
    Image output = cuda::wrap_image(device, target.get(), PixelType::c32, half);
    Image own_output = device.make_image(PixelType::c32, half);
    RealFftPlan plan(device, {.shape = plane});
    Stream stream = cuda::wrap_stream(device, own.get());
    plan.forward(stream, input, output);
    const std::vector<float> found = read(own.get(), target.get(), numbers);
    plan.forward(stream, input, own_output);
    std::vector<float> expected(numbers);
    stream.download(own_output, expected.data(), numbers * sizeof(float));
    CHECK(found == expected);
  });
}

TEST_CASE("cuda: an owner is released when the work is done, not before") {
  on_cuda([](const Device& device) {
    const OwnStream own;
    const Memory source(waves());
    const Memory target(bytes);
    const SobelPlan plan(device, {PixelType::f32, plane});
    Image output = cuda::wrap_image(device, target.get(), PixelType::f32, plane);
    for (const bool stream_goes_first : {false, true}) {
      CAPTURE(stream_goes_first);
      bool was_open = false;
      auto stream = std::make_unique<Stream>(cuda::wrap_stream(device, own.get()));
      Gate gate(own.get());
      std::shared_ptr<void> owner(&gate, [&](void*) { was_open = gate.is_open(); });
      const std::weak_ptr<void> alive = owner;
      {
        const Image input =
            cuda::wrap_image(device, source.get(), PixelType::f32, plane, std::move(owner));
        plan.execute(*stream, input, output);
        if (stream_goes_first) stream.reset();
        CHECK_FALSE(gate.is_open());
        gate.open_after(50ms);
      }
      CHECK(alive.expired());
      CHECK(was_open);
    }
  });
}

TEST_CASE("cuda: a plan's scratch memory is safe after the program's stream was destroyed") {
  on_cuda([](const Device& device) {
    // Rows that a texture cannot read in place are copied to an array of the plan.
    ResampleSpec spec{
        .spline = {.degree = 1, .prefilter = std::nullopt, .precision = Precision::texture},
        .images = {.shape = odd_plane},
        .output = odd_plane};
    ResamplePlan plan(device, spec);
    const Memory source(waves());
    const Memory first_target(bytes);
    const Memory second_target(bytes);
    const Image input = cuda::wrap_image(device, source.get(), PixelType::f32, odd_plane);
    Image first = cuda::wrap_image(device, first_target.get(), PixelType::f32, odd_plane);
    Image second = cuda::wrap_image(device, second_target.get(), PixelType::f32, odd_plane);
    Stream ours = device.make_stream();
    Event finished(device);
    const OwnStream own;
    Gate gate(own.get());
    {
      Stream stream = cuda::wrap_stream(device, own.get());
      plan.execute(stream, input, rotation, first);
    }
    plan.execute(ours, input, rotation, second);
    finished.record(ours);
    std::this_thread::sleep_for(50ms);
    CHECK_FALSE(finished.done());
    gate.open();
    finished.finish();
  });
}

// Each thread destroys its streams while the other one queries them for the end of the plan's
// work.
TEST_CASE("cuda: a plan's scratch memory is safe while another thread destroys its stream") {
  on_cuda([](const Device& device) {
    ResampleSpec spec{
        .spline = {.degree = 1, .prefilter = std::nullopt, .precision = Precision::texture},
        .images = {.shape = odd_plane},
        .output = odd_plane};
    ResamplePlan plan(device, spec);
    std::mutex plan_mutex;  // a plan may be used by one thread at a time
    const Memory source(waves());
    const Image input = cuda::wrap_image(device, source.get(), PixelType::f32, odd_plane);
    std::atomic<int> failures = 0;
    const auto use_streams = [&] {
      const Memory memory(bytes);
      Image target = cuda::wrap_image(device, memory.get(), PixelType::f32, odd_plane);
      for (int i = 0; i < 2000; ++i) {
        const OwnStream own;
        Stream stream = cuda::wrap_stream(device, own.get());
        try {
          const std::lock_guard lock(plan_mutex);
          plan.execute(stream, input, rotation, target);
        } catch (const Error&) {
          ++failures;
        }
      }
      check_cuda(cudaDeviceSynchronize());
    };
    std::thread other(use_streams);
    use_streams();
    other.join();
    CHECK(failures == 0);
  });
}

TEST_CASE("cuda: a registrar begins after the program's work") {
  on_cuda([](const Device& device) {
    const OwnStream own;
    const Memory memory(std::vector<float>(count, 1));
    const Memory later(waves());
    const Image image = cuda::wrap_image(device, memory.get(), PixelType::f32, plane);
    Stream stream = cuda::wrap_stream(device, own.get());
    Registrar registrar(device);
    registrar.set_reference(cuda::wrap_image(device, later.get(), PixelType::f32, plane));
    Event ready(device);
    Gate gate(own.get());
    check_cuda(
        cudaMemcpyAsync(memory.get(), later.get(), bytes, cudaMemcpyDeviceToDevice, own.get()));
    ready.record(stream);
    registrar.wait_for(ready);
    gate.open_after(50ms);
    CHECK_NOTHROW((void)registrar.align(image));  // a constant image would be refused
  });
}

TEST_CASE("cuda: memory that kernels cannot use is refused") {
  on_cuda([](const Device& device) {
    const Memory memory(bytes);
    std::vector<float> host(count);
    void* pinned = nullptr;
    void* managed = nullptr;
    check_cuda(cudaMallocHost(&pinned, bytes));
    check_cuda(cudaMallocManaged(&managed, bytes));
    check_refused("multiple of 16", device, static_cast<char*>(memory.get()) + 4);
    check_refused("bytes from this address", device, static_cast<char*>(memory.get()) + 1024);
    check_refused("does not belong to memory that CUDA knows", device,
                  reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(host.data()) & ~15ULL));
    check_refused("host memory", device, pinned);
    check_refused("null", device, nullptr);
    CHECK_NOTHROW((void)cuda::wrap_image(device, managed, PixelType::f32, plane));
    check_cuda(cudaFreeHost(pinned));
    check_cuda(cudaFree(managed));
  });
}

TEST_CASE("cuda: memory and streams of another device are refused") {
  on_cuda([](const Device& device) {
    int devices = 0;
    check_cuda(cudaGetDeviceCount(&devices));
    if (devices < 2) return test::skip_case("there is one CUDA device only");
    check_cuda(cudaSetDevice(1));
    {
      const Memory memory(bytes);
      const OwnStream own;
      check_refused("belongs to cuda:1", device, memory.get());
      CHECK_THROWS_WITH_AS((void)cuda::wrap_stream(device, own.get()),
                           doctest::Contains("not of cuda:0"), Error);
    }
    check_cuda(cudaSetDevice(0));
  });
}
