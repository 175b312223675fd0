// The program's own kernel fails, after which CUDA refuses every use of the device. The Device
// must report this from then on and release its objects, and other devices must continue.
//
// The process cannot use the device again, so each case runs in a forked process. Nothing before
// the fork uses CUDA.
#include "interop/cuda/loss/sticky.hpp"
#include "support/blobs.hpp"
#include "support/skipped.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/sobel.hpp>
#include <warpalign/warpalign.hpp>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace warpalign;

constexpr int no_device = 77;
constexpr Shape shape{96, 80, 1};

int mistakes = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++mistakes;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
}

void note(const std::string& text) { std::fprintf(stderr, "  %s\n", text.c_str()); }

std::optional<Device> opened(const std::string& name) {
  try {
    return open_device(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Error> error_of(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

test::BlobImage reference_image() { return test::draw_blobs(shape, Affine{}); }
test::BlobImage moving_image() {
  return test::draw_blobs(shape, Similarity{8, 1, {3, -2}}.matrix(shape, shape));
}

/// A device that is not lost, and its result before the failure.
struct Other {
  explicit Other(Device opened_device)
      : device(std::move(opened_device)), registrar(device), expected(bits()) {}
  std::vector<double> bits() {
    registrar.set_reference(reference_image().view());
    const RegistrationResult result = registrar.align(moving_image().view());
    const Affine& matrix = result.homography.affine();
    return {matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f};
  }
  Device device;
  Registrar registrar;
  std::vector<double> expected;
};

void expect_unchanged(Other& other) {
  const std::string name = other.device.info().id;
  const auto failure = error_of([&] { expect(other.bits() == other.expected, name + ": bits"); });
  expect(!failure, name + " goes on: " + (failure ? failure->what() : ""));
}

/// All objects that a program keeps of a device.
struct Kept {
  explicit Kept(const Device& device)
      : image(device.make_image(PixelType::f32, shape)),
        edges(device.make_image(PixelType::f32, shape)),
        stream(device.make_stream()),
        sobel(device, {PixelType::f32, shape}),
        registrar(device) {
    registrar.set_reference(reference_image().view());
    static_cast<void>(registrar.align(moving_image().view()));
    sobel.execute(stream, image, edges);
    stream.finish();
  }
  Image image;
  Image edges;
  Stream stream;
  SobelPlan sobel;
  Registrar registrar;
};

void expect_refused(const std::string& what, const std::string& code,
                    const std::function<void()>& use) {
  const auto error = error_of(use);
  if (!error) return expect(false, what + " is not refused");
  const std::string text = error->what();
  expect(error->kind() == ErrorKind::device_unavailable, what + ", of another kind: " + text);
  expect(error->context().code == code, what + ", without the failure's code: " + text);
  expect(error->context().backend == "cuda", what + ", of another backend: " + text);
  expect(text.find(code) != std::string::npos, what + ", in words that do not name it: " + text);
  expect(error->context().advice.find("restart the program") != std::string::npos,
         what + ", without advice: " + error->context().advice);
}

/// The first use detects the failure, possibly as a failed call.
void expect_found(const std::string& code, const std::function<void()>& use) {
  const auto error = error_of(use);
  if (!error) return expect(false, "the first use does not fail");
  note(std::string("first use: ") + error->what());
  expect(error->context().code == code, std::string("the first failure's code: ") + error->what());
}

void expect_lost(const Device& device, Kept& kept, const std::string& code) {
  expect_found(code, [&] { static_cast<void>(kept.registrar.align(moving_image().view())); });
  expect_refused("an image", code, [&] { (void)device.make_image(PixelType::f32, shape); });
  expect_refused("a stream", code, [&] { (void)device.make_stream(); });
  expect_refused("a plan", code, [&] { SobelPlan(device, {PixelType::f32, shape}); });
  expect_refused("a stage", code, [&] { kept.sobel.execute(kept.stream, kept.image, kept.edges); });
  expect_refused("a wait", code, [&] { kept.stream.finish(); });
  expect_refused("a registrar", code, [&] { Registrar another(device); });
  expect_refused("a registration", code,
                 [&] { static_cast<void>(kept.registrar.align(moving_image().view())); });
}

/// CUDA guarantees nothing about a second GPU: it works, or it is lost as well and reports it.
void look_at_second_gpu(Other& second) {
  const auto failure = error_of([&] { expect(second.bits() == second.expected, "cuda:1: bits"); });
  note(failure ? std::string("cuda:1 is lost as well: ") + failure->what() : "cuda:1 goes on");
}

int lose(test::Failure failure) {
  std::optional<Device> device = opened("cuda:0");
  if (!device) return no_device;
  std::optional<Other> other;
  for (const char* name : {"opencl:nvidia", "opencl:portable", "opencl:pocl"}) {
    if (std::optional<Device> found = other ? std::nullopt : opened(name)) other.emplace(*found);
  }
  std::optional<Other> second;
  if (std::optional<Device> found = opened("cuda:1")) second.emplace(*found);
  std::optional<Kept> kept(*device);

  expect(cudaSetDevice(0) == cudaSuccess, "cudaSetDevice");
  const std::string code = test::provoke(failure);
  expect(code == test::code_of(failure), "the kernel fails with " + code);
  expect_lost(*device, *kept, code);
  if (other) expect_unchanged(*other);
  note(other ? "beside it: " + other->device.info().id : "no OpenCL device beside it");
  if (second) look_at_second_gpu(*second);
  expect_refused("the device opened anew", code, [] { (void)open_device("cuda:0"); });
  note(std::string("list_backends: ") + list_backends().front().reason);

  kept.reset();
  device.reset();
  expect_refused("the device opened anew after all was let go of", code,
                 [] { (void)open_device("cuda:0"); });
  if (other) expect_unchanged(*other);
  return mistakes == 0 ? 0 : 1;
}

/// The child leaves by exit(), so that the libraries' static objects are destroyed as in any
/// program.
void in_process_of_its_own(test::Failure failure) {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) std::exit(lose(failure));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE_MESSAGE(WIFEXITED(status), "the process ends by signal " << WTERMSIG(status));
  if (WEXITSTATUS(status) == no_device) return test::skip_case("no CUDA device");
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace

TEST_CASE("cuda loss: a kernel traps") { in_process_of_its_own(test::Failure::trap); }

TEST_CASE("cuda loss: a kernel writes to unmapped memory") {
  in_process_of_its_own(test::Failure::write_nowhere);
}

TEST_CASE("cuda loss: a kernel writes to a misaligned address") {
  in_process_of_its_own(test::Failure::write_misaligned);
}
