// The names that the stages of backend_common/ use, for OpenCL. backend_common/README.md describes
// each name; backend_cuda/device/common_stage.hpp defines the same ones for CUDA.
#pragma once

#include "device/device_list.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "work_grid.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#define WA_BACKEND opencl
#define WA_KERNEL_OF(file, name) (::warpalign::opencl::KernelText{kernels::file, #name, {}, ""})
#define WA_KERNEL_FORMS(file, name) \
  (::warpalign::opencl::KernelText{kernels::file, #name, kernels::file##_cpu, ""})
#define WA_KERNEL_VARIANT(condition, option, with, without, file, name) \
  (::warpalign::opencl::KernelText{kernels::file, #name, {}, (condition) ? " -D " #option : ""})
#define WA_KERNEL_VARIANT_FORMS(condition, option, with, without, file, name) \
  (::warpalign::opencl::KernelText{kernels::file, #name, kernels::file##_cpu, \
                                   (condition) ? " -D " #option : ""})
#define WA_LAUNCHER_OF(name) ::warpalign::opencl::Launcher

namespace warpalign::opencl {

using DeviceContext = Context;

[[nodiscard]] inline CallSite site_of(const Context& context, const char* stage) {
  return context.call_site(stage);
}

[[nodiscard]] inline bool is_cpu(const Context& context) { return context.is_cpu(); }
[[nodiscard]] inline bool has_vectors(const Context& context) { return context.has_vectors(); }
[[nodiscard]] inline int group_of_at_most(const Context& context, int size) {
  return std::min(size, static_cast<int>(reduction_group(context)));
}
[[nodiscard]] inline WorkGroup group_of_rows(const Context& context, int columns, int rows) {
  return {columns, std::clamp(static_cast<int>(reduction_group(context)) / columns, 1, rows)};
}
[[nodiscard]] inline int row_group(const Context& context, int) {
  return static_cast<int>(short_row_group(context));
}
[[nodiscard]] inline int group_or_vector(const Context& context, int size) {
  return context.has_vectors() ? 1 : size;
}
/// The local memory of a work-group, in bytes.
[[nodiscard]] inline std::size_t local_bytes(const Context& context) {
  return static_cast<std::size_t>(device_value<cl_ulong>(context.id(), CL_DEVICE_LOCAL_MEM_SIZE));
}

/// Collects " -D NAME=value" options.
class KernelOptions {
 public:
  KernelOptions& set(const char* name, int value) {
    text_ += std::string(" -D ") + name + "=" + std::to_string(value);
    return *this;
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// A kernel's program and name.
struct KernelText {
  std::string_view text;
  const char* name;
  std::string_view for_vectors;  ///< the form for CPUs with vectors, which takes no options
  const char* variant;           ///< a further option
};

class Launcher {
 public:
  Launcher(Context& context, const char* stage, const KernelText& kernel,
           const KernelOptions& options = {})
      : kernel_(context, stage, has_form(context, kernel) ? kernel.for_vectors : kernel.text,
                kernel.name,
                has_form(context, kernel) ? std::string() : options.text() + kernel.variant) {}

  template <class... Arguments>
  void launch(const backend::Queue& queue, const WorkGrid& grid, const Arguments&... arguments) {
    const auto columns = static_cast<std::size_t>(grid.group.columns);
    const auto rows = static_cast<std::size_t>(grid.group.rows);
    kernel_.launch(queue_of(queue),
                   {{static_cast<std::size_t>(grid.columns) * columns,
                     static_cast<std::size_t>(grid.rows) * rows},
                    {columns, rows}},
                   arguments...);
  }

 private:
  static bool has_form(const Context& context, const KernelText& kernel) {
    return context.has_vectors() && !kernel.for_vectors.empty();
  }

  Kernel kernel_;
};

class StageScratch {
 public:
  StageScratch(const Context& context, const char* stage, std::size_t bytes)
      : stage_(stage), memory_(make_buffer(context, bytes, stage)) {}

  const Handle<cl_mem>& enter(const backend::Queue& queue) {
    guard_.enter(queue_of(queue), stage_);
    return memory_;
  }

 private:
  const char* stage_;
  Handle<cl_mem> memory_;
  ScratchGuard guard_;
};

}  // namespace warpalign::opencl
