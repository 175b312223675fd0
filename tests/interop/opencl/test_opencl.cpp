// OpenCL context, queue and memory of the program.
#include "interop/opencl/program.hpp"

#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/stages/sobel.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace {

using namespace warpalign;
using namespace std::chrono_literals;
using test::check_cl;
using test::Gate;
using test::Memory;
using test::Program;

constexpr Shape plane{96, 64, 1};
constexpr std::size_t count = 96 * 64;
constexpr std::size_t bytes = count * sizeof(float);

std::vector<float> waves(float phase = 0) {
  std::vector<float> pixels(count);
  for (std::size_t i = 0; i < count; ++i) {
    pixels[i] = std::sin(0.37F * static_cast<float>(i % 96) + phase) +
                std::cos(0.21F * static_cast<float>(i / 96));
  }
  return pixels;
}

Image over(const Program& program, cl_mem memory, const opencl::WrapOptions& options = {}) {
  return opencl::wrap_image(program.device, memory, PixelType::f32, plane, options);
}

/// The gradient of the pixels, computed in warpalign's memory and on its stream.
std::vector<float> gradient_of(const Device& device, const std::vector<float>& pixels) {
  Stream stream = device.make_stream();
  Image input = device.make_image(PixelType::f32, plane);
  Image output = device.make_image(PixelType::f32, plane);
  stream.upload(pixels.data(), bytes, input.buffer());
  SobelPlan(device, {PixelType::f32, plane}).execute(stream, input, output);
  std::vector<float> result(count);
  stream.download(output, result.data(), bytes);
  return result;
}

cl_uint references_of(cl_mem memory) {
  cl_uint references = 0;
  check_cl(
      clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr));
  return references;
}

void check_refused(const char* part, const Device& device, cl_mem memory,
                   const opencl::WrapOptions& options = {}) {
  try {
    (void)opencl::wrap_image(device, memory, PixelType::f32, plane, options);
    FAIL_CHECK("was taken: " << std::string(part));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    CHECK(std::string(error.what()).find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("opencl: the device is opened within the program's context") {
  test::on_every_program([](Program& program) {
    CHECK(opencl::context_of(program.device) == program.context);
    CHECK(opencl::device_id_of(program.device) == program.id);
    CHECK(program.device.info().backend == "opencl");
    CHECK(open_device(program.device.info().id).info().name == program.device.info().name);
  });
}

TEST_CASE("opencl: from the program's memory to the program's memory, on its queue") {
  test::on_every_program([](Program& program) {
    const Memory source(program.make_memory(waves()));
    const Memory target(program.make_memory(bytes));
    const Image input = over(program, source);
    Image output = over(program, target);
    Stream stream = opencl::wrap_stream(program.device, program.queue);
    CHECK(opencl::memory_of(input) == source);
    CHECK(opencl::memory_of(output) == target);
    CHECK(opencl::queue_of(stream) == program.queue);

    ResamplePlan plan(program.device, {.images = {.shape = plane}, .output = plane});
    constexpr Affine rotation{0.97, -0.1, 3, 0.12, 0.96, 2};
    plan.execute(stream, input, rotation, output);
    // waits for nothing but the queue
    const std::vector<float> found = program.read(target, count);

    Stream ours = program.device.make_stream();
    Image own_input = program.device.make_image(PixelType::f32, plane);
    Image own_output = program.device.make_image(PixelType::f32, plane);
    ours.upload(waves().data(), bytes, own_input.buffer());
    plan.execute(ours, own_input, rotation, own_output);
    std::vector<float> expected(count);
    ours.download(own_output, expected.data(), bytes);
    CHECK(found == expected);
  });
}

TEST_CASE("opencl: work keeps its order with the program's own commands") {
  test::on_every_program([](Program& program) {
    const std::vector<float> later = waves(1);
    const Memory source(program.make_memory(waves(0)));
    const Memory target(program.make_memory(bytes));
    const std::vector<float> expected = gradient_of(program.device, later);
    const SobelPlan plan(program.device, {PixelType::f32, plane});
    const Image input = over(program, source);
    Image output = over(program, target);
    Stream stream = opencl::wrap_stream(program.device, program.queue);
    Gate gate(program);
    // The program writes the input behind the gate; the plan must read it afterwards.
    check_cl(clEnqueueWriteBuffer(program.queue, source, CL_FALSE, 0, bytes, later.data(), 0,
                                  nullptr, nullptr));
    plan.execute(stream, input, output);
    CHECK_FALSE(gate.is_open());  // execute did not wait
    gate.open();
    CHECK(program.read(target, count) == expected);
  });
}

TEST_CASE("opencl: events order the program's queue and a stream of warpalign") {
  test::on_every_program([](Program& program) {
    const std::vector<float> later = waves(1);
    const std::vector<float> expected = gradient_of(program.device, later);
    const Memory source(program.make_memory(waves(0)));
    const Memory target(program.make_memory(bytes));
    const SobelPlan plan(program.device, {PixelType::f32, plane});
    const Image input = over(program, source);
    Image output = over(program, target);
    Stream stream = program.device.make_stream();
    Event finished(program.device);
    CHECK(opencl::event_of(finished) == nullptr);
    {
      Gate gate(program);
      cl_event raw = nullptr;
      check_cl(clEnqueueWriteBuffer(program.queue, source, CL_FALSE, 0, bytes, later.data(), 0,
                                    nullptr, &raw));
      check_cl(clFlush(program.queue));
      const test::ClEvent written(raw);
      opencl::wrap_event(program.device, written).wait(stream);
      plan.execute(stream, input, output);
      finished.record(stream);
      CHECK_FALSE(finished.done());
      gate.open();
    }
    const cl_event event = opencl::event_of(finished);
    REQUIRE(event != nullptr);
    check_cl(clEnqueueBarrierWithWaitList(program.queue, 1, &event, nullptr));
    CHECK(program.read(target, count) == expected);
    CHECK(finished.done());
  });
}

TEST_CASE("opencl: a registrar begins after the program's work") {
  test::on_every_program([](Program& program) {
    const std::vector<float> flat(count, 1);
    const std::vector<float> later = waves();
    const Memory memory(program.make_memory(flat));
    const Image image = over(program, memory);
    Stream stream = opencl::wrap_stream(program.device, program.queue);
    Registrar registrar(program.device);
    Event ready(program.device);
    Gate gate(program);
    check_cl(clEnqueueWriteBuffer(program.queue, memory, CL_FALSE, 0, bytes, later.data(), 0,
                                  nullptr, nullptr));
    ready.record(stream);
    registrar.wait_for(ready);
    gate.open_after(50ms);
    CHECK_NOTHROW(registrar.set_reference(image));  // a constant image would be refused
  });
}

TEST_CASE("opencl: an owner is released when the work is done, not before") {
  test::on_every_program([](Program& program) {
    const Memory source(program.make_memory(waves()));
    const Memory target(program.make_memory(bytes));
    const SobelPlan plan(program.device, {PixelType::f32, plane});
    Image output = over(program, target);
    for (const bool stream_goes_first : {false, true}) {
      CAPTURE(stream_goes_first);
      bool was_open = false;
      {
        auto stream = std::make_unique<Stream>(opencl::wrap_stream(program.device, program.queue));
        Gate gate(program);
        std::shared_ptr<void> owner(&gate, [&](void*) { was_open = gate.is_open(); });
        const std::weak_ptr<void> alive = owner;
        {
          const Image input = over(program, source, {.owner = std::move(owner)});
          plan.execute(*stream, input, output);
          if (stream_goes_first) stream.reset();
          CHECK_FALSE(gate.is_open());
          gate.open_after(50ms);
        }
        CHECK(alive.expired());
        CHECK(was_open);
      }
      check_cl(clFinish(program.queue));
    }
  });
}

TEST_CASE("opencl: without an owner nothing waits, and OpenCL keeps the memory") {
  test::on_every_program([](Program& program) {
    const Memory source(program.make_memory(waves()));
    const Memory target(program.make_memory(bytes));
    const SobelPlan plan(program.device, {PixelType::f32, plane});
    Gate gate(program);
    {
      const Image input = over(program, source);
      Image output = over(program, target);
      CHECK(references_of(source) == 2);
      Stream stream = opencl::wrap_stream(program.device, program.queue);
      plan.execute(stream, input, output);
      gate.open_after(2000ms);  // ends the wait if the destructor does wait
    }
    CHECK_FALSE(gate.is_open());
    gate.open();
    CHECK(program.read(target, count) == gradient_of(program.device, waves()));
    CHECK(references_of(source) == 1);
  });
}

TEST_CASE("opencl: the program may use warpalign's memory and queue") {
  test::on_every_program([](Program& program) {
    Stream stream = program.device.make_stream();
    Image image = program.device.make_image(PixelType::f32, plane);
    const std::vector<float> pixels = waves();
    check_cl(clEnqueueWriteBuffer(opencl::queue_of(stream), opencl::memory_of(image), CL_FALSE, 0,
                                  bytes, pixels.data(), 0, nullptr, nullptr));
    std::vector<float> found(count);
    stream.download(image, found.data(), bytes);
    CHECK(found == pixels);
  });
}

TEST_CASE("opencl: a stream that wraps a queue with profiling supports marks") {
  test::on_every_program([](Program& program) {
    const test::Queue profiled(
        clCreateCommandQueue(program.context, program.id, CL_QUEUE_PROFILING_ENABLE, nullptr));
    Stream timed = opencl::wrap_stream(program.device, profiled);
    CHECK(timed.timed());
    const Mark first = timed.mark();
    const Mark second = timed.mark();
    CHECK(timed.milliseconds_between(first, second) >= 0);
    Stream plain = opencl::wrap_stream(program.device, program.queue);
    CHECK_THROWS_AS((void)plain.mark(), Error);
  });
}

TEST_CASE("opencl: images may wrap sub-buffers, and parts of sub-buffers") {
  test::on_every_program([](Program& program) {
    constexpr std::size_t step = 4096;
    std::vector<float> all(3 * step / sizeof(float) + count);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i);
    const Memory whole(program.make_memory(all));
    const cl_buffer_region region{step, 2 * step + bytes};
    const Memory part(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
    const Image image = over(program, part, {.offset_bytes = step});
    Stream stream = opencl::wrap_stream(program.device, program.queue);
    std::vector<float> found(count);
    stream.download(image, found.data(), bytes);
    CHECK(found.front() == 2 * step / sizeof(float));
    CHECK(found.back() == 2 * step / sizeof(float) + count - 1);
    // The same bytes, wrapped in another way, are recognised as the same.
    Image same = over(program, whole, {.offset_bytes = 2 * step});
    const SobelPlan plan(program.device, {PixelType::f32, plane});
    CHECK_THROWS_WITH_AS(plan.execute(stream, image, same), doctest::Contains("overlap"), Error);
  });
}

TEST_CASE("opencl: memory that kernels cannot use is refused") {
  test::on_every_program([](Program& program) {
    const Memory memory(program.make_memory(bytes));
    Program stranger(program.device);
    check_refused("another cl_context", stranger.device, memory);
    const Memory small(program.make_memory(bytes - 4));
    check_refused("bytes", program.device, small);
    check_refused("bytes", program.device, memory, {.offset_bytes = bytes + 4096});
    const Memory write_only(program.make_memory(bytes, CL_MEM_WRITE_ONLY));
    check_refused("CL_MEM_WRITE_ONLY", program.device, write_only);
    const Memory read_only(program.make_memory(bytes, CL_MEM_READ_ONLY));
    check_refused("CL_MEM_READ_ONLY", program.device, read_only);
    CHECK_NOTHROW((void)over(program, read_only, {.read_only = true}));
    const Memory large(program.make_memory(2 * bytes));
    check_refused("multiple of", program.device, large, {.offset_bytes = 4});
    check_refused("null", program.device, nullptr);
  });
}

// CL_DEVICE_MEM_BASE_ADDR_ALIGN requires more than 16 bytes, but NVIDIA's driver accepts any
// offset.
TEST_CASE("opencl: an offset that the device does not allow is refused, and no other") {
  test::on_every_program([](Program& program) {
    constexpr std::size_t offset = 16;
    std::vector<float> all(count + offset / sizeof(float));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i);
    const Memory large(program.make_memory(all));
    const cl_buffer_region region{offset, bytes};
    cl_int status = CL_SUCCESS;
    const cl_mem part = clCreateSubBuffer(large, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    if (part != nullptr) clReleaseMemObject(part);
    if (status != CL_SUCCESS) {
      check_refused("multiple of", program.device, large, {.offset_bytes = offset});
      return;
    }
    const Image image = over(program, large, {.offset_bytes = offset});
    std::vector<float> found(count);
    opencl::wrap_stream(program.device, program.queue).download(image, found.data(), bytes);
    CHECK(found.front() == offset / sizeof(float));
    CHECK(found.back() == offset / sizeof(float) + count - 1);
  });
}

TEST_CASE("opencl: unaligned host memory is refused") {
  test::on_every_program([](Program& program) {
    std::vector<char> host(bytes + 64);
    void* begin = host.data();
    std::size_t room = host.size();
    REQUIRE(std::align(64, bytes + 4, begin, room) != nullptr);
    const auto make = [&](std::size_t offset) {
      return clCreateBuffer(program.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                            static_cast<char*>(begin) + offset, nullptr);
    };
    const Memory aligned(make(0));
    CHECK_NOTHROW((void)over(program, aligned));
    const Memory misaligned(make(4));
    check_refused("multiple of 16", program.device, misaligned);
  });
}

TEST_CASE("opencl: OpenCL images are refused, since they are no buffers") {
  test::on_every_program([](Program& program) {
    cl_bool has_images = CL_FALSE;
    check_cl(clGetDeviceInfo(program.id, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images,
                             nullptr));
    if (has_images == CL_FALSE) return test::skip_case("the device has no images");
    const cl_image_format format{CL_R, CL_FLOAT};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = 96;
    desc.image_height = 64;
    const Memory image(
        clCreateImage(program.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, nullptr));
    check_refused("not a buffer", program.device, image);
  });
}

TEST_CASE("opencl: unsuitable queues and events are refused") {
  test::on_every_program([](Program& program) {
    Program stranger(program.device);
    CHECK_THROWS_WITH_AS((void)opencl::wrap_stream(program.device, stranger.queue),
                         doctest::Contains("another cl_context"), Error);
    CHECK_THROWS_WITH_AS((void)opencl::wrap_stream(program.device, nullptr),
                         doctest::Contains("null"), Error);
    const test::ClEvent event(clCreateUserEvent(stranger.context, nullptr));
    CHECK_THROWS_WITH_AS((void)opencl::wrap_event(program.device, event),
                         doctest::Contains("another cl_context"), Error);
    // NVIDIA's driver waits for it before it releases the context.
    check_cl(clSetUserEventStatus(event, CL_COMPLETE));
    cl_command_queue_properties possible = 0;
    check_cl(clGetDeviceInfo(program.id, CL_DEVICE_QUEUE_PROPERTIES, sizeof possible, &possible,
                             nullptr));
    if ((possible & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0) {
      return test::skip_case("the device has no queues out of order");
    }
    const test::Queue unordered(clCreateCommandQueue(
        program.context, program.id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr));
    CHECK_THROWS_WITH_AS((void)opencl::wrap_stream(program.device, unordered),
                         doctest::Contains("out of order"), Error);
  });
}

TEST_CASE("opencl: a device is opened within a context that has it") {
  test::on_every_program([](Program& program) {
    CHECK_THROWS_WITH_AS((void)opencl::open_device(nullptr, program.id), doctest::Contains("null"),
                         Error);
    CHECK_THROWS_WITH_AS((void)opencl::open_device(program.context, nullptr),
                         doctest::Contains("null"), Error);
    for (const Device& other : test::devices()) {
      if (other.info().backend != "opencl") continue;
      cl_device_id id = opencl::device_id_of(other);
      if (id == program.id) continue;
      CHECK_THROWS_WITH_AS((void)opencl::open_device(program.context, id),
                           doctest::Contains("not of the context"), Error);
    }
  });
}
