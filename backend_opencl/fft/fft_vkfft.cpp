// FFT provider: VkFFT. This is the only file that includes its header.
//
// VkFFT is C code in a header, which compiles kernels, prints, and sets the locale of the process.
// This file therefore replaces some of the functions that VkFFT calls before it includes the
// header:
//   clCreateProgramWithSource, clBuildProgram  use our program cache. VkFFT's own save and load
//       treat a program's binary as text that ends at the first zero byte, which holds for
//       NVIDIA's PTX only. With our cache, the log of a failed build also shows the numbered
//       source.
//   clCreateKernel, clReleaseKernel, clReleaseProgram  also accept placeholders. An announced plan
//       gets placeholders instead of programs and kernels, so that all its sources are known
//       before the first is compiled.
//   clCreateBuffer, clCreateCommandQueue, clEnqueueWriteBuffer, clEnqueueNDRangeKernel, clFinish
//       record the first failure, which VkFFT's results do not report.
//   printf     prints nothing: a library must not write to the program's output.
//   setlocale  sets the locale of the planning thread only.
#include "fft/fft_provider.hpp"

#include "device/kernel.hpp"
#include "device/program_cache.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/fork.hpp>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <exception>
#include <mutex>

#include <locale.h>

namespace {

/// The state that the replaced functions need while this thread makes a plan.
struct Planning {
  warpalign::opencl::Context* device = nullptr;
  std::exception_ptr failure;
  // The first OpenCL call that failed.
  cl_int status = CL_SUCCESS;
  const char* call = "";
  bool allocates = false;
};
thread_local Planning planning;

void note(cl_int status, const char* call, bool allocates) {
  if (status == CL_SUCCESS || planning.status != CL_SUCCESS) return;
  planning.status = status;
  planning.call = call;
  planning.allocates = allocates;
}

cl_mem create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                     cl_int* status) {
  const cl_mem buffer = clCreateBuffer(context, flags, bytes, host, status);
  note(*status, "clCreateBuffer", true);
  return buffer;
}

cl_command_queue create_queue(cl_context context, cl_device_id device,
                              cl_command_queue_properties properties, cl_int* status) {
  const cl_command_queue queue = clCreateCommandQueue(context, device, properties, status);
  note(*status, "clCreateCommandQueue", true);
  return queue;
}

// Checked because drivers may allocate a buffer on the first write. Waits because plans run on
// other queues, and the device may still be copying when a blocking write returns.
cl_int write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, std::size_t offset,
                    std::size_t bytes, const void* from, cl_uint count, const cl_event* events,
                    cl_event* done) {
  const cl_int status =
      clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from, count, events, done);
  note(status, "clEnqueueWriteBuffer", true);
  if (status == CL_SUCCESS) note(clFinish(queue), "clFinish", true);
  return status;
}

cl_int enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                      const std::size_t* offset, const std::size_t* global,
                      const std::size_t* local, cl_uint count, const cl_event* events,
                      cl_event* done) {
  const cl_int status =
      clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, events, done);
  note(status, "clEnqueueNDRangeKernel", false);
  return status;
}

cl_int finish(cl_command_queue queue) {
  const cl_int status = clFinish(queue);
  note(status, "clFinish", false);
  return status;
}

// The placeholder in announced plans: never launched, and dropped with the plan.
char placeholder = 0;
cl_program placeholder_program() { return reinterpret_cast<cl_program>(&placeholder); }
cl_kernel placeholder_kernel() { return reinterpret_cast<cl_kernel>(&placeholder); }

cl_program create_cached_program(cl_context, cl_uint, const char** texts, const std::size_t* sizes,
                                 cl_int* status) {
  try {
    const auto program =
        planning.device->programs().get({texts[0], sizes[0]}, "-w -cl-std=CL1.2", "fft");
    *status = CL_SUCCESS;
    if (program.get() == nullptr) return placeholder_program();
    clRetainProgram(program.get());  // VkFFT releases it
    return program.get();
  } catch (...) {
    planning.failure = std::current_exception();
    *status = CL_BUILD_PROGRAM_FAILURE;
    return nullptr;
  }
}

cl_int already_built(...) { return CL_SUCCESS; }

cl_kernel create_kernel(cl_program program, const char* name, cl_int* status) {
  if (program != placeholder_program()) return clCreateKernel(program, name, status);
  *status = CL_SUCCESS;
  return placeholder_kernel();
}

cl_int release_program(cl_program program) {
  return program == placeholder_program() ? CL_SUCCESS : clReleaseProgram(program);
}

cl_int release_kernel(cl_kernel kernel) {
  return kernel == placeholder_kernel() ? CL_SUCCESS : clReleaseKernel(kernel);
}

int print_nothing(const char*, ...) { return 0; }

char* unchanged_locale(...) {
  static char c_locale[] = "C";
  return c_locale;
}

}  // namespace

#define clCreateProgramWithSource create_cached_program
#define clBuildProgram already_built
#define clCreateKernel create_kernel
#define clReleaseProgram release_program
#define clReleaseKernel release_kernel
#define clCreateBuffer create_buffer
#define clCreateCommandQueue create_queue
#define clEnqueueWriteBuffer write_buffer
#define clEnqueueNDRangeKernel enqueue_kernel
#define clFinish finish
#define printf print_nothing
#define setlocale unchanged_locale
// VkFFT writes the source of its kernels once per plan. Optimizing that code would add up to a
// minute of compilation and make no plan faster.
#if defined(__clang__)
#pragma clang optimize off
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("O0")
#endif
#include <vkFFT.h>
#if defined(__clang__)
#pragma clang optimize on
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif
#undef clCreateProgramWithSource
#undef clBuildProgram
#undef clCreateKernel
#undef clReleaseProgram
#undef clReleaseKernel
#undef clCreateBuffer
#undef clCreateCommandQueue
#undef clEnqueueWriteBuffer
#undef clEnqueueNDRangeKernel
#undef clFinish
#undef printf
#undef setlocale

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "fft";

void limit_to(const RealFftSpec& spec, VkFFTConfiguration& configuration) {
  configuration.makeForwardPlanOnly = spec.has_inverse() ? 0 : 1;
  configuration.makeInversePlanOnly = spec.has_forward() ? 0 : 1;
}

/// Only one thread of the process may plan, or destroy plans, at a time.
std::mutex planning_mutex;

/// Sets a locale with a decimal point for the numbers in generated kernels.
class PlainLocale {
 public:
  PlainLocale() : plain_(newlocale(LC_ALL_MASK, "C", nullptr)), before_(uselocale(plain_)) {}
  PlainLocale(const PlainLocale&) = delete;
  PlainLocale& operator=(const PlainLocale&) = delete;
  ~PlainLocale() {
    uselocale(before_);
    if (plain_ != nullptr) freelocale(plain_);
  }

 private:
  locale_t plain_, before_;
};

class Application {
 public:
  Application(Context& context, VkFFTConfiguration configuration)
      : context_(context), id_(context.id()), handle_(context.handle().get()) {
    configuration.device = &id_;
    configuration.context = &handle_;
    const std::lock_guard lock(planning_mutex);
    const PlainLocale locale;
    planning = {};
    planning.device = &context;
    const VkFFTResult result = initializeVkFFT(&application_, configuration);
    if (result == VKFFT_SUCCESS) return;
    if (planning.failure) std::rethrow_exception(planning.failure);
    if (planning.status != CL_SUCCESS) throw failure_of_planning();
    throw failure(ErrorKind::build_failed, "initializeVkFFT", result);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() {
    if (backend::is_forked()) return;
    const std::lock_guard lock(planning_mutex);
    deleteVkFFT(&application_);
  }

  /// direction: -1 forward, 1 inverse. `input` is null for transforms in place.
  void run(int direction, cl_command_queue queue, cl_mem spectrum, cl_mem input) {
    VkFFTLaunchParams launch = {};
    launch.commandQueue = &queue;
    launch.buffer = &spectrum;
    if (input != nullptr) launch.inputBuffer = &input;
    const VkFFTResult result = VkFFTAppend(&application_, direction, &launch);
    if (result != VKFFT_SUCCESS) throw failure(ErrorKind::device_failure, "VkFFTAppend", result);
  }

 private:
  /// The Error for the OpenCL call that failed. CL_OUT_OF_RESOURCES means a lack of memory if the
  /// call allocated some, and may mean anything if the call ran a kernel.
  [[nodiscard]] Error failure_of_planning() const {
    Error error = opencl::failure(planning.status, planning.call, context_.call_site(stage));
    if (planning.allocates && planning.status == CL_OUT_OF_RESOURCES) {
      return {ErrorKind::out_of_memory, error.message(), error.context()};
    }
    return error;
  }

  [[nodiscard]] Error failure(ErrorKind kind, const char* call, VkFFTResult result) const {
    return {kind,
            std::string(call) + " failed",
            {stage, "opencl", context_.info().name, call,
             "VkFFTResult " + std::to_string(static_cast<int>(result)),
             "set opencl.fft = \"clfft\" to use the other FFT library"}};
  }

  Context& context_;
  cl_device_id id_;
  cl_context handle_;
  VkFFTApplication application_ = {};
};

/// Whether n has no prime factor above 13, the largest radix that VkFFT has.
bool has_small_factors(std::int64_t n) {
  for (const std::int64_t factor : {2, 3, 5, 7, 11, 13}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

std::uint64_t extent(std::int64_t n) { return static_cast<std::uint64_t>(n); }

/// Real to half complex, out of place: VkFFT's "input buffer" is the real image in both
/// directions, and its "buffer" is the spectrum.
VkFFTConfiguration real_configuration(const RealFftSpec& spec) {
  const Shape& shape = spec.shape;
  const bool volume = spec.dimensions == 3;
  VkFFTConfiguration configuration = {};
  const std::uint64_t width = extent(shape.width);
  const std::uint64_t height = extent(shape.height);
  const std::uint64_t columns = width / 2 + 1;
  configuration.FFTdim = volume ? 3 : (height > 1 ? 2 : 1);
  configuration.size[0] = width;
  configuration.size[1] = height;
  configuration.size[2] = volume ? extent(shape.depth) : 1;
  configuration.numberBatches = volume ? 1 : extent(shape.depth);
  configuration.performR2C = 1;
  configuration.isInputFormatted = 1;
  configuration.inverseReturnToInputBuffer = 1;
  limit_to(spec, configuration);
  // Strides from row to row, from plane to plane, and from image to image (size[2] of an image is
  // 1).
  const std::uint64_t planes = configuration.size[2];
  const std::array<std::uint64_t, 3> real{width, width * height, width * height * planes};
  const std::array<std::uint64_t, 3> half{columns, columns * height, columns * height * planes};
  std::copy(real.begin(), real.end(), configuration.inputBufferStride);
  std::copy(half.begin(), half.end(), configuration.bufferStride);
  return configuration;
}

class RealPlan final : public FftPlan {
 public:
  RealPlan(Context& context, const RealFftSpec& spec)
      : application_(context, real_configuration(spec)) {}

  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) override {
    application_.run(-1, queue, spectrum, real);
  }
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) override {
    application_.run(1, queue, spectrum, real);
  }

 private:
  Application application_;
};

/// A plan for images and volumes one pixel wide, for which VkFFT has no real transform: a complex
/// transform along the other axes, in place in the spectrum.
class ColumnPlan final : public FftPlan {
 public:
  ColumnPlan(Context& context, const RealFftSpec& spec)
      : count_(extent(spec.shape.pixels())),
        grid_(covering(context, spec.shape.pixels())),
        widen_(context, stage, kernels::real_fft, "widen"),
        narrow_(context, stage, kernels::real_fft, "narrow") {
    if (spec.shape.height == 1) return;
    const bool volume = spec.dimensions == 3;
    VkFFTConfiguration configuration = {};
    configuration.FFTdim = volume ? 2 : 1;
    configuration.size[0] = extent(spec.shape.height);
    configuration.size[1] = volume ? extent(spec.shape.depth) : 1;
    configuration.numberBatches = volume ? 1 : extent(spec.shape.depth);
    limit_to(spec, configuration);
    application_ = std::make_unique<Application>(context, configuration);
  }

  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) override {
    widen_.launch(queue, grid_, real, spectrum, count_);
    if (application_) application_->run(-1, queue, spectrum, nullptr);
  }
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) override {
    if (application_) application_->run(1, queue, spectrum, nullptr);
    narrow_.launch(queue, grid_, spectrum, real, count_);
  }

 private:
  cl_ulong count_;
  Grid grid_;
  Kernel widen_, narrow_;
  std::unique_ptr<Application> application_;
};

class VkFft final : public FftProvider {
 public:
  explicit VkFft(Context& context) : context_(context) {}

  [[nodiscard]] const char* name() const noexcept override { return "vkfft"; }
  [[nodiscard]] std::string version() const override { return std::to_string(VkFFTGetVersion()); }
  [[nodiscard]] std::string_view own_kernels() const override { return kernels::real_fft; }

  /// False for sizes with larger prime factors: VkFFT plans these by Bluestein's algorithm and runs
  /// kernels meanwhile, which therefore must be compiled already.
  [[nodiscard]] bool registers_programs(const RealFftSpec& spec) const override {
    const Shape& shape = spec.shape;
    return has_small_factors(shape.width) && has_small_factors(shape.height) &&
           (spec.dimensions == 2 || has_small_factors(shape.depth));
  }

  [[nodiscard]] std::unique_ptr<FftPlan> plan(const RealFftSpec& spec) override {
    if (spec.shape.width == 1) return std::make_unique<ColumnPlan>(context_, spec);
    return std::make_unique<RealPlan>(context_, spec);
  }

 private:
  Context& context_;
};

}  // namespace

std::unique_ptr<FftProvider> make_vkfft(Context& context) {
  return std::make_unique<VkFft>(context);
}

}  // namespace warpalign::opencl
