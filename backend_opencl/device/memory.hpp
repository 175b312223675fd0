// Device memory as an OpenCL buffer.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/memory.hpp>

namespace warpalign::opencl {

/// Creates an uninitialised buffer. Throws Error(out_of_memory) with the sizes if that fails.
[[nodiscard]] Handle<cl_mem> make_buffer(const Context& context, std::size_t bytes,
                                         const std::string& stage);

class Memory : public backend::Memory {
 public:
  Memory(const Context& context, std::size_t bytes)
      : buffer_(make_buffer(context, bytes, "memory")) {}

  /// The caller's buffer, or a part of it (foreign.hpp).
  Memory(const Context& context, const backend::UnownedMemory& memory);

  [[nodiscard]] cl_mem get() const noexcept { return buffer_.get(); }
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return get(); }
  [[nodiscard]] backend::Location location() const noexcept override {
    return {whole_ != nullptr ? whole_ : get(), offset_};
  }

 private:
  Handle<cl_mem> buffer_;
  cl_mem whole_ = nullptr;  ///< the caller's buffer, of which this may be a sub-buffer
  std::size_t offset_ = 0;  ///< of the sub-buffer, in bytes
};

/// The cl_mem of memory that this backend made; core passes no other memory.
[[nodiscard]] inline cl_mem buffer_of(const backend::Memory& memory) {
  return static_cast<const Memory&>(memory).get();
}

}  // namespace warpalign::opencl
