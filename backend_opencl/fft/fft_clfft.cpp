// FFT provider: clFFT. The provider opens the library when it is first used, so that the module
// loads without it.
//
// clFFT's state is global, and planning is not thread-safe (two threads that bake equal plans
// abort), so one mutex guards create, bake and destroy. The teardown happens once, when this module
// is unloaded or the process ends, and only if no plan is left by then: destroying a plan after the
// teardown would free it twice.
#include "fft/fft_provider.hpp"

#include "device/memory.hpp"

#include <warpalign/backend/fork.hpp>

#include <mutex>
#include <optional>

#if WARPALIGN_WITH_CLFFT

#include <clFFT.h>
#include <dlfcn.h>

#include <array>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "fft";
constexpr const char* library_name = "libclFFT.so.2";

std::mutex planning_mutex;

/// The functions of clFFT that this file uses.
struct Library {
  decltype(&::clfftSetup) setup = nullptr;
  decltype(&::clfftTeardown) teardown = nullptr;
  decltype(&::clfftCreateDefaultPlan) create = nullptr;
  decltype(&::clfftSetPlanPrecision) set_precision = nullptr;
  decltype(&::clfftSetPlanScale) set_scale = nullptr;
  decltype(&::clfftSetPlanBatchSize) set_batch = nullptr;
  decltype(&::clfftSetPlanDistance) set_distance = nullptr;
  decltype(&::clfftSetPlanInStride) set_in_stride = nullptr;
  decltype(&::clfftSetPlanOutStride) set_out_stride = nullptr;
  decltype(&::clfftSetLayout) set_layout = nullptr;
  decltype(&::clfftSetResultLocation) set_location = nullptr;
  decltype(&::clfftBakePlan) bake = nullptr;
  decltype(&::clfftGetTmpBufSize) scratch_size = nullptr;
  decltype(&::clfftDestroyPlan) destroy = nullptr;
  decltype(&::clfftEnqueueTransform) enqueue = nullptr;
  std::string fault;  // why it cannot be used
};

template <class Function>
void resolve(void* handle, const char* name, Function& function, std::string& fault) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) fault.assign(library_name).append(" has no ").append(name);
}

Library open_library() {
  Library library;
  void* handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    library.fault = reason != nullptr ? reason : "it cannot be loaded";
    return library;
  }
  std::string& fault = library.fault;
  resolve(handle, "clfftSetup", library.setup, fault);
  resolve(handle, "clfftTeardown", library.teardown, fault);
  resolve(handle, "clfftCreateDefaultPlan", library.create, fault);
  resolve(handle, "clfftSetPlanPrecision", library.set_precision, fault);
  resolve(handle, "clfftSetPlanScale", library.set_scale, fault);
  resolve(handle, "clfftSetPlanBatchSize", library.set_batch, fault);
  resolve(handle, "clfftSetPlanDistance", library.set_distance, fault);
  resolve(handle, "clfftSetPlanInStride", library.set_in_stride, fault);
  resolve(handle, "clfftSetPlanOutStride", library.set_out_stride, fault);
  resolve(handle, "clfftSetLayout", library.set_layout, fault);
  resolve(handle, "clfftSetResultLocation", library.set_location, fault);
  resolve(handle, "clfftBakePlan", library.bake, fault);
  resolve(handle, "clfftGetTmpBufSize", library.scratch_size, fault);
  resolve(handle, "clfftDestroyPlan", library.destroy, fault);
  resolve(handle, "clfftEnqueueTransform", library.enqueue, fault);
  if (!fault.empty()) return library;
  const clfftSetupData setup{clfftVersionMajor, clfftVersionMinor, clfftVersionPatch, 0};
  const clfftStatus status = library.setup(&setup);
  if (status != CLFFT_SUCCESS) fault = "clfftSetup failed: " + code_name(status);
  return library;
}

/// The number of plans that exist; guarded by planning_mutex.
int num_plans = 0;

/// Opens the library, and tears it down at the end.
struct Session {
  Library library = open_library();
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (backend::is_forked()) return;
    if (library.fault.empty() && num_plans == 0) library.teardown();
  }
};

const Library& library() {
  static const Session session;
  return session.library;
}

void check_clfft(clfftStatus status, const char* call, ErrorKind kind, const CallSite& site) {
  if (status == CLFFT_SUCCESS) return;
  if (status == CLFFT_DEVICE_NOT_AVAILABLE) throw failure(status, call, site);
  if (status == CLFFT_MEM_OBJECT_ALLOCATION_FAILURE) kind = ErrorKind::out_of_memory;
  throw Error(kind, std::string(call) + " failed",
              {site.stage, "opencl", site.device, call, code_name(status),
               "set opencl.fft = \"vkfft\" to use the other FFT library"});
}

bool has_only_small_factors(std::int64_t n) {
  for (const std::int64_t factor : {2, 3, 5, 7, 11, 13}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

clfftDim rank_of(const RealFftSpec& spec) {
  if (spec.dimensions == 3) return CLFFT_3D;
  return spec.shape.height > 1 ? CLFFT_2D : CLFFT_1D;
}

/// The forward or the inverse transform for one shape.
class Direction {
 public:
  Direction(const Context& context, const RealFftSpec& spec, clfftDirection direction)
      : site_(context.call_site(stage)), direction_(direction) {
    const Handle<cl_command_queue> queue = context.service_queue();
    const std::lock_guard lock(planning_mutex);
    try {
      create(context, spec);
      cl_command_queue raw = queue.get();
      demand(library().bake(handle_, 1, &raw, nullptr, nullptr), "clfftBakePlan");
      std::size_t bytes = 0;
      demand(library().scratch_size(handle_, &bytes), "clfftGetTmpBufSize");
      if (bytes > 0) scratch_ = make_buffer(context, bytes, stage);
    } catch (...) {
      destroy();
      throw;
    }
  }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;
  ~Direction() {
    if (backend::is_forked()) return;
    const std::lock_guard lock(planning_mutex);
    destroy();
  }

  void run(cl_command_queue queue, cl_mem input, cl_mem output) {
    check_clfft(library().enqueue(handle_, direction_, 1, &queue, 0, nullptr, nullptr, &input,
                                  &output, scratch_.get()),
                "clfftEnqueueTransform", ErrorKind::device_failure, site_);
  }

 private:
  void demand(clfftStatus status, const char* call) const {
    check_clfft(status, call, ErrorKind::build_failed, site_);
  }

  void create(const Context& context, const RealFftSpec& spec) {
    const auto width = static_cast<std::size_t>(spec.shape.width);
    const auto height = static_cast<std::size_t>(spec.shape.height);
    const auto depth = static_cast<std::size_t>(spec.shape.depth);
    const std::size_t columns = width / 2 + 1;
    const bool forward = direction_ == CLFFT_FORWARD;
    const bool volume = spec.dimensions == 3;
    const std::array<std::size_t, 3> lengths{width, height, depth};
    std::array<std::size_t, 3> real{1, width, width * height};
    std::array<std::size_t, 3> half{1, columns, columns * height};
    const clfftDim dimensions = rank_of(spec);
    const Library& fft = library();
    demand(fft.create(&handle_, context.handle().get(), dimensions, lengths.data()),
           "clfftCreateDefaultPlan");
    created_ = true;
    ++num_plans;
    demand(fft.set_precision(handle_, CLFFT_SINGLE), "clfftSetPlanPrecision");
    demand(fft.set_scale(handle_, CLFFT_FORWARD, 1), "clfftSetPlanScale");
    demand(fft.set_scale(handle_, CLFFT_BACKWARD, 1), "clfftSetPlanScale");
    demand(fft.set_location(handle_, CLFFT_OUTOFPLACE), "clfftSetResultLocation");
    demand(fft.set_layout(handle_, forward ? CLFFT_REAL : CLFFT_HERMITIAN_INTERLEAVED,
                          forward ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_REAL),
           "clfftSetLayout");
    demand(fft.set_in_stride(handle_, dimensions, forward ? real.data() : half.data()),
           "clfftSetPlanInStride");
    demand(fft.set_out_stride(handle_, dimensions, forward ? half.data() : real.data()),
           "clfftSetPlanOutStride");
    const std::size_t planes = volume ? depth : 1;
    const std::size_t real_image = width * height * planes;
    const std::size_t half_image = columns * height * planes;
    demand(fft.set_distance(handle_, forward ? real_image : half_image,
                            forward ? half_image : real_image),
           "clfftSetPlanDistance");
    demand(fft.set_batch(handle_, volume ? 1 : depth), "clfftSetPlanBatchSize");
  }

  void destroy() noexcept {
    if (!created_) return;
    library().destroy(&handle_);
    created_ = false;
    --num_plans;
  }

  CallSite site_;
  clfftDirection direction_;
  clfftPlanHandle handle_ = 0;
  bool created_ = false;
  Handle<cl_mem> scratch_;
};

class Plan final : public FftPlan {
 public:
  Plan(const Context& context, const RealFftSpec& spec) {
    if (spec.has_forward()) forward_.emplace(context, spec, CLFFT_FORWARD);
    if (spec.has_inverse()) inverse_.emplace(context, spec, CLFFT_BACKWARD);
  }

  void forward(cl_command_queue queue, cl_mem real, cl_mem spectrum) override {
    forward_->run(queue, real, spectrum);
  }
  void inverse(cl_command_queue queue, cl_mem spectrum, cl_mem real) override {
    inverse_->run(queue, spectrum, real);
  }

 private:
  std::optional<Direction> forward_, inverse_;
};

class ClFft final : public FftProvider {
 public:
  explicit ClFft(Context& context) : context_(context) {}

  /// clFFT compiles its programs itself.
  [[nodiscard]] bool registers_programs(const RealFftSpec& /*spec*/) const override {
    return false;
  }
  [[nodiscard]] const char* name() const noexcept override { return "clfft"; }
  [[nodiscard]] std::string version() const override {
    return std::to_string(clfftVersionMajor) + "." + std::to_string(clfftVersionMinor) + "." +
           std::to_string(clfftVersionPatch);
  }

  [[nodiscard]] std::unique_ptr<FftPlan> plan(const RealFftSpec& spec) override {
    const Shape& shape = spec.shape;
    if (!has_only_small_factors(shape.width) || !has_only_small_factors(shape.height) ||
        (spec.dimensions == 3 && !has_only_small_factors(shape.depth))) {
      throw error(ErrorKind::invalid_argument,
                  "clFFT cannot transform images of " + to_string(shape) +
                      ": it takes sizes whose prime factors are at most 13",
                  context_.call_site(stage), "pad the image, or set opencl.fft = \"vkfft\"");
    }
    return std::make_unique<Plan>(context_, spec);
  }

 private:
  Context& context_;
};

}  // namespace

std::unique_ptr<FftProvider> make_clfft(Context& context) {
  const std::lock_guard lock(planning_mutex);
  if (!library().fault.empty()) {
    throw error(ErrorKind::configuration, "cannot use clFFT: " + library().fault,
                context.call_site(stage), "install libclfft2, or set opencl.fft = \"vkfft\"");
  }
  return std::make_unique<ClFft>(context);
}

}  // namespace warpalign::opencl

#else

namespace warpalign::opencl {

std::unique_ptr<FftProvider> make_clfft(Context& context) {
  throw error(ErrorKind::configuration, "this build of warpalign does not support clFFT",
              context.call_site("fft"), "set opencl.fft = \"vkfft\", or build with clFFT's header");
}

}  // namespace warpalign::opencl

#endif
