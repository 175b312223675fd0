// Builds one program: from source, or from a binary that an earlier run has cached.
#pragma once

#include "device/errors.hpp"
#include "device/handles.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpalign::opencl {

class Context;

/// How to use a platform's compiler.
struct Compiler {
  /// The number of threads that precompile programs. It is 0 for PoCL, which compiles under one
  /// lock for the whole process, and for Mesa's rusticl (22.3), which crashes. NVIDIA's driver
  /// overlaps little of the work of two threads, and Intel's for CPUs nothing; no other process can
  /// take over what a thread has begun.
  std::size_t threads = 16;
  /// Whether other processes gain if they compile some of the programs.
  bool one_at_a_time = false;
  /// Whether only one thread of the process may build at a time, on any device.
  bool exclusive = false;
  /// Whether the platform caches compiled programs by their source. PoCL does, and it compiles
  /// every kernel a second time if the caller requests a binary, unless `any_group_size` is set.
  bool caches_programs = false;
  /// Whether PoCL compiles each kernel once, for work-groups of any size, as its binaries need it.
  /// Our cache then stores the binaries: PoCL loads a binary in a fifth of the time in which it
  /// finds the same program by its source.
  bool any_group_size = false;
  /// Whether the compiler reads declarations of every built-in function from a file, for each
  /// program, unless the program declares what it uses.
  bool reads_declarations = false;
};
[[nodiscard]] Compiler compiler_of(const std::string& platform);

/// Builds a program from source. Throws Error(build_failed) with the numbered source, the options
/// and the log.
[[nodiscard]] Handle<cl_program> program_from_source(const Context& context,
                                                     std::string_view source,
                                                     const std::string& options,
                                                     const CallSite& site);

/// Builds a program from source with our own declarations of built-in functions in front of it,
/// for a compiler that then reads no others. Returns nothing if the compiler finds errors: another
/// version of it may need other declarations. Throws as program_from_source() if it fails
/// otherwise.
[[nodiscard]] std::optional<Handle<cl_program>> program_with_declarations(
    const Context& context, std::string_view source, const std::string& options,
    const CallSite& site);

/// Builds a program from a binary. Returns nothing if the driver rejects the binary.
[[nodiscard]] std::optional<Handle<cl_program>> program_from_binary(const Context& context,
                                                                    const std::string& binary,
                                                                    const std::string& options);

/// The binary of a built program; empty if the driver does not provide it.
[[nodiscard]] std::string binary_of(cl_program program);

}  // namespace warpalign::opencl
