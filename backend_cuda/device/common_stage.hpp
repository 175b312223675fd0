// The names that the stages of backend_common/ use, for CUDA. backend_common/README.md describes
// each name; backend_opencl/device/common_stage.hpp defines the same ones for OpenCL.
//
// nvcc compiles the kernel with its stage, whose options are macros. The functions below therefore
// return the sizes with which the kernel was compiled.
#pragma once

#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "work_grid.hpp"

#include "shared/kernel_language.h"

#include <type_traits>
#include <utility>

#define WA_BACKEND cuda
#define WA_KERNEL_OF(file, name) (&name)
#define WA_KERNEL_FORMS(file, name) (&name)
#define WA_KERNEL_VARIANT(condition, option, with, without, file, name) \
  ((condition) ? &with::name : &without::name)
#define WA_KERNEL_VARIANT_FORMS(condition, option, with, without, file, name) \
  WA_KERNEL_VARIANT(condition, option, with, without, file, name)
#define WA_LAUNCHER_OF(name) ::warpalign::cuda::Launcher<decltype(&name)>

namespace warpalign::cuda {

using DeviceContext = const Context;

[[nodiscard]] inline CallSite site_of(const Context& context, const char* stage) {
  return {context, stage};
}

[[nodiscard]] constexpr bool is_cpu(const Context&) { return false; }
[[nodiscard]] constexpr bool has_vectors(const Context&) { return false; }
[[nodiscard]] constexpr int group_of_at_most(const Context&, int size) { return size; }
[[nodiscard]] constexpr WorkGroup group_of_rows(const Context&, int columns, int rows) {
  return {columns, rows};
}
[[nodiscard]] constexpr int row_group(const Context&, int size) { return size; }
[[nodiscard]] constexpr int group_or_vector(const Context&, int size) { return size; }
/// What every device has for arrays in a kernel's text.
[[nodiscard]] constexpr std::size_t local_bytes(const Context&) { return std::size_t{48} << 10U; }

/// Does nothing: the kernel was compiled with its options.
struct KernelOptions {
  constexpr const KernelOptions& set(const char*, int) const { return *this; }
};

template <class Function>
class Launcher;

template <class... Parameters>
class Launcher<void (*)(Parameters...)> {
 public:
  Launcher(const Context& context, const char* stage, void (*kernel)(Parameters...),
           const KernelOptions& = {})
      : site_{context, stage}, kernel_(kernel) {
    load(kernel_, site_);
  }

  template <class... Arguments>
  void launch(const backend::Queue& queue, const WorkGrid& grid, Arguments&&... arguments) const {
    static_assert(sizeof...(Arguments) == sizeof...(Parameters),
                  "the kernel takes a different number of arguments");
    launch_dependent(
        site_, queue, dim3(static_cast<unsigned>(grid.columns), static_cast<unsigned>(grid.rows)),
        dim3(static_cast<unsigned>(grid.group.columns), static_cast<unsigned>(grid.group.rows)),
        kernel_, argument<Parameters>(arguments)...);
  }

 private:
  template <class Parameter, class Argument>
  static Parameter argument(Argument& value) {
    if constexpr (std::is_pointer_v<Parameter>) {
      using Element = std::remove_pointer_t<Parameter>;
      if constexpr (std::is_const_v<Element>) {
        return data<std::remove_const_t<Element>>(std::as_const(value));
      } else {
        return data<Element>(value);
      }
    } else {
      using Value = std::remove_const_t<Argument>;
      static_assert(sizeof(Value) == sizeof(Parameter) &&
                        std::is_integral_v<Value> == std::is_integral_v<Parameter> &&
                        std::is_signed_v<Value> == std::is_signed_v<Parameter>,
                    "the kernel takes an argument of a different type");
      return static_cast<Parameter>(value);
    }
  }

  CallSite site_;
  void (*kernel_)(Parameters...);
};

class StageScratch {
 public:
  StageScratch(const Context& context, const char* stage, std::size_t bytes)
      : site_{context, stage}, memory_(site_, bytes), guard_(site_) {}

  backend::Memory& enter(const backend::Queue& queue) {
    site_.context.activate();
    guard_.enter(queue);
    return memory_;
  }

 private:
  CallSite site_;
  DeviceMemory memory_;
  ScratchGuard guard_;
};

}  // namespace warpalign::cuda
