// The table from which a kernel for batches reads each array's transform, instead of from
// arguments.
#pragma once

#include "device/parameter_upload.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warpalign::opencl {

/// The option of kernels for batches (kernels_cl/lib/batch.h). Single arrays use separate kernels,
/// which take the transform as arguments.
[[nodiscard]] inline const char* batch_option(std::int64_t batch) {
  return batch > 1 ? " -D BATCH" : "";
}

/// A table of one entry for each array of a batch, or of one for all. `Entry` has the layout of the
/// struct of the same name in the kernel's source.
template <class Entry>
class ArrayParameters {
 public:
  ArrayParameters(const Context& context, std::int64_t arrays, const char* stage)
      : upload_(context, static_cast<std::size_t>(arrays) * sizeof(Entry), stage) {}

  struct Table {
    cl_mem entries;
    cl_int each;  ///< 1: an entry for each array; 0: one for all
  };

  /// Enqueues the copy of entry_of(i) for the `count` entries: one for each array, or one for all.
  template <class EntryOf>
  Table enqueue(cl_command_queue queue, std::size_t count, const EntryOf& entry_of) {
    upload_.begin();
    for (std::size_t i = 0; i < count; ++i) upload_.put(i, entry_of(i));
    return {upload_.enqueue(queue, count * sizeof(Entry)), count > 1 ? 1 : 0};
  }

 private:
  ParameterUpload upload_;
};

/// Calls launch() for a single array, and launch(entries, each, last...) for a batch, with the
/// additional arguments of kernels for batches.
template <class Entry, class EntryOf, class Launch, class... Last>
void launch_for_arrays(std::optional<ArrayParameters<Entry>>& table, cl_command_queue queue,
                       std::size_t count, const EntryOf& entry_of, const Launch& launch,
                       const Last&... last) {
  if (!table) return launch();
  const auto written = table->enqueue(queue, count, entry_of);
  launch(written.entries, written.each, last...);
}

}  // namespace warpalign::opencl
