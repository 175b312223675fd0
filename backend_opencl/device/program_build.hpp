// Making one program: from source, or from the binary that an earlier run kept.
#pragma once

#include "device/errors.hpp"
#include "device/handles.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpalign::opencl {

class Context;

/// How a platform's compiler is best used.
struct Compiler {
  /// The number of threads that compile ahead. PoCL compiles under one lock for the whole process,
  /// whatever the context, and Mesa's rusticl (22.3) crashes: there, none does. NVIDIA's driver
  /// overlaps little of what two do, and what a thread has begun no other process can take over.
  std::size_t threads = 16;
  /// Whether other processes gain by compiling a part.
  bool one_at_a_time = false;
  /// Whether only one thread of the process may build at a time, on any device.
  bool exclusive = false;
  /// PoCL keeps what it compiles by source, and compiles every kernel a second time when it is
  /// asked for a binary.
  bool keeps_programs = false;
};
[[nodiscard]] Compiler compiler_of(const std::string& platform);

/// A built program; Error(build_failed) with the numbered source, the options and the log.
[[nodiscard]] Handle<cl_program> program_from_source(const Context& context,
                                                     std::string_view source,
                                                     const std::string& options,
                                                     const CallSite& site);

/// A built program, or nothing when the driver does not take the binary.
[[nodiscard]] std::optional<Handle<cl_program>> program_from_binary(const Context& context,
                                                                    const std::string& binary,
                                                                    const std::string& options);

/// The binary of a built program; empty when the driver does not give it.
[[nodiscard]] std::string binary_of(cl_program program);

}  // namespace warpalign::opencl
