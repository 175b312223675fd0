// Builds one program: from source, or from a binary that an earlier run has cached.
#include "device/program_build.hpp"

#include "device/context.hpp"
#include "embedded_kernels.hpp"

#include <boost/compute/context.hpp>
#include <boost/compute/device.hpp>
#include <boost/compute/program.hpp>
#include <cstdlib>
#include <sstream>

namespace warpalign::opencl {

namespace {

namespace compute = boost::compute;

/// Creates a program from source without building it.
compute::program created_program(const Context& context, std::string_view source,
                                 const CallSite& site) {
  try {
    return compute::program::create_with_source(std::string(source),
                                                compute::context(context.handle().get()));
  } catch (const compute::opencl_error& error) {
    throw failure(error.error_code(), "clCreateProgramWithSource", site);
  }
}

struct Build {
  compute::program program;
  cl_int status;
};

/// Creates a program and builds it.
Build built_program(const Context& context, std::string_view source, const std::string& options,
                    const CallSite& site) {
  const cl_device_id id = context.id();
  const compute::program program = created_program(context, source, site);
  // Boost.Compute would build for all devices of the context, which may be the caller's.
  const cl_int status = clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr);
  if (status == CL_DEVICE_NOT_AVAILABLE) throw failure(status, "clBuildProgram", site);
  return {program, status};
}

std::string build_log(const compute::program& program, cl_device_id device) {
  std::string log;
  try {
    log = program.get_build_info<std::string>(CL_PROGRAM_BUILD_LOG, compute::device(device));
  } catch (const compute::opencl_error&) {
    return "(no log)";
  }
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

/// Whether PoCL's own setting says that kernels are compiled once, for work-groups of any size.
bool compiles_for_any_group_size() {
  const char* specialized = std::getenv("POCL_WORK_GROUP_SPECIALIZATION");
  return specialized != nullptr && std::string_view(specialized) == "0";
}

}  // namespace

Compiler compiler_of(const std::string& platform) {
  Compiler compiler;
  const bool pocl = platform == "Portable Computing Language";
  compiler.any_group_size = pocl && compiles_for_any_group_size();
  compiler.caches_programs = pocl && !compiler.any_group_size;
  compiler.reads_declarations = pocl;
  compiler.exclusive = platform == "rusticl" || platform == "Clover" || platform == "Oclgrind";
  const bool serial = platform == "NVIDIA CUDA" || platform == "Intel(R) OpenCL";
  compiler.one_at_a_time = pocl || compiler.exclusive || serial;
  if (compiler.one_at_a_time) compiler.threads = serial ? 1 : 0;
  return compiler;
}

std::optional<Handle<cl_program>> program_from_binary(const Context& context,
                                                      const std::string& binary,
                                                      const std::string& options) {
  const cl_device_id id = context.id();
  const std::size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int loaded = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  const cl_program raw =
      clCreateProgramWithBinary(context.handle().get(), 1, &id, &size, &bytes, &loaded, &status);
  if (raw == nullptr || status != CL_SUCCESS) return std::nullopt;
  const Handle<cl_program> program = adopt(raw);
  if (loaded != CL_SUCCESS) return std::nullopt;
  if (clBuildProgram(raw, 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return program;
}

namespace {

[[noreturn]] void throw_failed(const std::string& log, std::string_view source,
                               const std::string& options, const CallSite& site, cl_int status) {
  ErrorContext where{site.stage, "opencl", site.device, "clBuildProgram", code_name(status), {}};
  // A driver ships its own compiler, which may be older than the processor.
  if (log.find("unknown target CPU") != std::string::npos) {
    where.advice =
        "install a newer OpenCL driver; this one is older than the processor (on Debian "
        "pocl-opencl-icd; pip's pocl-binary-distribution is of 2022)";
    throw Error(ErrorKind::build_failed,
                "the driver's compiler does not know this processor: " + log, where);
  }
  where.advice = "report this with the text above; until it is fixed, try another device";
  throw Error(ErrorKind::build_failed,
              "an OpenCL kernel does not compile\noptions: " + options + "\nlog:\n" + log +
                  "\nsource:\n" + numbered(source),
              where);
}

}  // namespace

Handle<cl_program> program_from_source(const Context& context, std::string_view source,
                                       const std::string& options, const CallSite& site) {
  const Build build = built_program(context, source, options, site);
  if (build.status == CL_SUCCESS) return share(build.program.get());
  throw_failed(build_log(build.program, context.id()), source, options, site, build.status);
}

std::optional<Handle<cl_program>> program_with_declarations(const Context& context,
                                                            std::string_view source,
                                                            const std::string& options,
                                                            const CallSite& site) {
  std::string text(kernels::builtin_declarations);
  text += "#line 1\n";
  text += source;
  // PoCL's headers take this include guard of opencl-c.h for its contents.
  const Build build = built_program(context, text, options + " -D_OPENCL_H_", site);
  if (build.status == CL_SUCCESS) return share(build.program.get());
  const std::string log = build_log(build.program, context.id());
  if (log.find("error:") != std::string::npos) return std::nullopt;
  throw_failed(log, source, options, site, build.status);
}

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

}  // namespace warpalign::opencl
