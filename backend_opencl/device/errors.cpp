// The names of OpenCL's status codes, and advice for each.
#include "device/errors.hpp"

#include <array>
#include <utility>

namespace warpalign::opencl {

namespace {

using Name = std::pair<cl_int, const char*>;

#define NAMED(code) \
  Name { code, #code }
constexpr std::array names{
    NAMED(CL_DEVICE_NOT_FOUND),
    NAMED(CL_DEVICE_NOT_AVAILABLE),
    NAMED(CL_COMPILER_NOT_AVAILABLE),
    NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAMED(CL_OUT_OF_RESOURCES),
    NAMED(CL_OUT_OF_HOST_MEMORY),
    NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAMED(CL_MEM_COPY_OVERLAP),
    NAMED(CL_IMAGE_FORMAT_MISMATCH),
    NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    NAMED(CL_BUILD_PROGRAM_FAILURE),
    NAMED(CL_MAP_FAILURE),
    NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAMED(CL_COMPILE_PROGRAM_FAILURE),
    NAMED(CL_LINKER_NOT_AVAILABLE),
    NAMED(CL_LINK_PROGRAM_FAILURE),
    NAMED(CL_DEVICE_PARTITION_FAILED),
    NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAMED(CL_INVALID_VALUE),
    NAMED(CL_INVALID_DEVICE_TYPE),
    NAMED(CL_INVALID_PLATFORM),
    NAMED(CL_INVALID_DEVICE),
    NAMED(CL_INVALID_CONTEXT),
    NAMED(CL_INVALID_QUEUE_PROPERTIES),
    NAMED(CL_INVALID_COMMAND_QUEUE),
    NAMED(CL_INVALID_HOST_PTR),
    NAMED(CL_INVALID_MEM_OBJECT),
    NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    NAMED(CL_INVALID_IMAGE_SIZE),
    NAMED(CL_INVALID_SAMPLER),
    NAMED(CL_INVALID_BINARY),
    NAMED(CL_INVALID_BUILD_OPTIONS),
    NAMED(CL_INVALID_PROGRAM),
    NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    NAMED(CL_INVALID_KERNEL_NAME),
    NAMED(CL_INVALID_KERNEL_DEFINITION),
    NAMED(CL_INVALID_KERNEL),
    NAMED(CL_INVALID_ARG_INDEX),
    NAMED(CL_INVALID_ARG_VALUE),
    NAMED(CL_INVALID_ARG_SIZE),
    NAMED(CL_INVALID_KERNEL_ARGS),
    NAMED(CL_INVALID_WORK_DIMENSION),
    NAMED(CL_INVALID_WORK_GROUP_SIZE),
    NAMED(CL_INVALID_WORK_ITEM_SIZE),
    NAMED(CL_INVALID_GLOBAL_OFFSET),
    NAMED(CL_INVALID_EVENT_WAIT_LIST),
    NAMED(CL_INVALID_EVENT),
    NAMED(CL_INVALID_OPERATION),
    NAMED(CL_INVALID_BUFFER_SIZE),
    NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
    NAMED(CL_INVALID_PROPERTY),
    NAMED(CL_INVALID_IMAGE_DESCRIPTOR),
    NAMED(CL_INVALID_COMPILER_OPTIONS),
    NAMED(CL_INVALID_LINKER_OPTIONS),
    NAMED(CL_INVALID_DEVICE_PARTITION_COUNT),
    Name{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};
#undef NAMED

bool is_memory_shortage(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY;
}

const char* static_name_of(cl_int status) {
  for (const auto& [code, name] : names) {
    if (code == status) return name;
  }
  return nullptr;
}

/// Whether the status may mean that the device is lost. OpenCL has no status for that alone:
/// drivers also report a kernel's failure as a lack of resources, and then refuse handles that were
/// valid before.
bool may_mean_loss(cl_int status) {
  return status == CL_DEVICE_NOT_AVAILABLE || status == CL_OUT_OF_RESOURCES ||
         status == CL_INVALID_COMMAND_QUEUE || status == CL_INVALID_CONTEXT ||
         status == CL_INVALID_DEVICE;
}

bool is_available(cl_device_id device) {
  cl_bool available = CL_TRUE;
  const cl_int status =
      clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
  return status == CL_SUCCESS ? available != CL_FALSE : status != CL_INVALID_DEVICE;
}

void record_loss(cl_int status, Health& health) {
  const bool lost =
      status == CL_DEVICE_NOT_AVAILABLE || (may_mean_loss(status) && !is_available(health.id));
  if (lost) health.loss.note(static_name_of(status));
}

std::string advice_for(cl_int status) {
  switch (status) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return "use smaller images, or free device memory held by other programs";
    case CL_OUT_OF_HOST_MEMORY:
      return "free memory on this machine";
    case CL_OUT_OF_RESOURCES:
      return "free device memory; if that does not help, the driver's log (dmesg) may say more";
    case CL_DEVICE_NOT_AVAILABLE:
      return "open the device again; check that no other program uses it exclusively";
    case CL_COMPILER_NOT_AVAILABLE:
      return "install the vendor's OpenCL compiler, or choose another device";
    default:
      return {};
  }
}

}  // namespace

std::string code_name(cl_int status) {
  const char* name = static_name_of(status);
  return name != nullptr ? name : "OpenCL error " + std::to_string(status);
}

Error failure(cl_int status, const char* call, const CallSite& site) {
  if (site.health != nullptr) record_loss(status, *site.health);
  const auto kind =
      is_memory_shortage(status) ? ErrorKind::out_of_memory : ErrorKind::device_failure;
  return {kind,
          std::string(call) + " failed",
          {site.stage, "opencl", site.device, call, code_name(status), advice_for(status)}};
}

Error error(ErrorKind kind, const std::string& message, const CallSite& site,
            const std::string& advice) {
  return {kind, message, {site.stage, "opencl", site.device, {}, {}, advice}};
}

}  // namespace warpalign::opencl
