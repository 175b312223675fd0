// Builds programs from cached binaries where they work, from source where they do not.
#include "device/program_cache.hpp"

#include "device/context.hpp"
#include "device/device_list.hpp"

#include <optional>
#include <sstream>
#include <vector>

namespace warpalign::opencl {

namespace {

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
      CL_SUCCESS) {
    return "(no log)";
  }
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

std::string numbered(std::string_view source) {
  std::istringstream lines{std::string(source)};
  std::string result;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::string label = std::to_string(number);
    label.insert(0, label.size() < 4 ? 4 - label.size() : 0, ' ');
    result += label + "  " + line + "\n";
  }
  return result;
}

/// A built program from a binary, or nothing when the driver does not take it.
std::optional<compute::program> from_binary(const Context& context, const std::string& binary,
                                            const std::string& options) {
  const cl_device_id id = context.id();
  const std::size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int loaded = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  const cl_program raw =
      clCreateProgramWithBinary(context.handle().get(), 1, &id, &size, &bytes, &loaded, &status);
  if (raw == nullptr || status != CL_SUCCESS) return std::nullopt;
  compute::program program(raw, false);
  if (loaded != CL_SUCCESS) return std::nullopt;
  if (clBuildProgram(raw, 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return program;
}

compute::program from_source(const Context& context, std::string_view source,
                             const std::string& options, const CallSite& site) {
  const cl_device_id id = context.id();
  const char* text = source.data();
  const std::size_t size = source.size();
  cl_int status = CL_SUCCESS;
  const cl_program raw =
      clCreateProgramWithSource(context.handle().get(), 1, &text, &size, &status);
  check(status, "clCreateProgramWithSource", site);
  compute::program program(raw, false);
  status = clBuildProgram(raw, 1, &id, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) {
    throw Error(ErrorKind::build_failed,
                "an OpenCL kernel does not compile\noptions: " + options + "\nlog:\n" +
                    build_log(raw, id) + "\nsource:\n" + numbered(source),
                {site.stage, "opencl", site.device, "clBuildProgram", code_name(status),
                 "report this with the text above; another device may work meanwhile"});
  }
  return program;
}

/// The binary of a built program; empty when the driver does not give it.
std::string binary_of(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
    return {};
  }
  return binary;
}

}  // namespace

ProgramCache::ProgramCache(const Context& context)
    : context_(context), common_options_("-w -cl-std=CL1.2") {
  // Without this, GPUs may be 3 ulp off in sqrt and 2.5 in division.
  const auto config = device_value<cl_device_fp_config>(context.id(), CL_DEVICE_SINGLE_FP_CONFIG);
  if ((config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0) {
    common_options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
}

compute::program ProgramCache::get(std::string_view source, const std::string& options,
                                   const std::string& stage) {
  const std::string key = "opencl program\n" + context_.identity() + "options " + options +
                          "\nsource\n" + std::string(source);
  const std::lock_guard lock(mutex_);
  if (const auto found = built_.find(key); found != built_.end()) return found->second;

  std::optional<compute::program> program;
  if (const auto binary = context_.host().load_cached(key)) {
    program = from_binary(context_, *binary, options);
  }
  if (!program) {
    program = from_source(context_, source, options, context_.call_site(stage));
    const std::string binary = binary_of(program->get());
    if (!binary.empty()) context_.host().store_cached(key, binary);
  }
  return built_.emplace(key, *program).first->second;
}

}  // namespace warpalign::opencl
