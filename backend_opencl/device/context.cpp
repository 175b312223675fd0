// Opens a device: its context and its program cache.
#include "device/context.hpp"

#include "device/device_list.hpp"
#include "device/pocl_cache.hpp"
#include "device/program_cache.hpp"
#include "fft/fft_plans.hpp"

#include <utility>

namespace warpalign::opencl {

namespace {

Handle<cl_context> make_context(cl_device_id id, const CallSite& site) {
  cl_int status = CL_SUCCESS;
  const cl_context context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
  if (status != CL_SUCCESS) {
    throw Error(ErrorKind::device_unavailable, "cannot open the OpenCL device",
                {site.stage, "opencl", site.device, "clCreateContext", code_name(status),
                 "try another device or a newer driver"});
  }
  return adopt(context);
}

}  // namespace

Context::Context(cl_device_id id, DeviceInfo info, std::shared_ptr<const backend::Host> host)
    : Context(make_context(id, {"open", info.name}), id, info, std::move(host)) {}

Context::Context(cl_context context, cl_device_id id, DeviceInfo info,
                 std::shared_ptr<const backend::Host> host)
    : Context(share(context), id, std::move(info), std::move(host)) {}

Context::Context(Handle<cl_context> context, cl_device_id id, DeviceInfo info,
                 std::shared_ptr<const backend::Host> host)
    : info_(std::move(info)),
      health_(std::make_unique<Health>(id)),
      host_(std::move(host)),
      device_(share(id)),
      context_(std::move(context)) {
  if (device_value<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) {
    throw error(ErrorKind::device_unavailable, "the device's OpenCL driver has no compiler",
                call_site("open"), "choose another device, or install the vendor's full driver");
  }
  const Compiler compiler = compiler_of(info_.platform);
  if (compiler.caches_programs && !pocl_cache_problem().empty()) {
    host_->report_cache_problem(pocl_cache_problem());
  }
  identity_ = "platform " + info_.platform + "\ndevice " + info_.name + "\nversion " +
              device_text(id, CL_DEVICE_VERSION) + "\ndriver " + info_.driver + "\n" +
              (compiler.any_group_size ? "work-groups of any size\n" : "");
  has_vectors_ = is_cpu() && device_value<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT) > 1;
  programs_ = std::make_unique<ProgramCache>(*this);
  fft_plans_ = std::make_unique<FftPlans>(*this);
}

Context::~Context() = default;

Handle<cl_command_queue> Context::service_queue() const {
  const std::lock_guard lock(service_mutex_);
  if (service_queue_.get() == nullptr) {
    cl_int status = CL_SUCCESS;
    const cl_command_queue queue = clCreateCommandQueue(context_.get(), id(), 0, &status);
    check(status, "clCreateCommandQueue", call_site("open"));
    service_queue_ = adopt(queue);
  }
  return service_queue_;
}

}  // namespace warpalign::opencl
