// Ordinary (pageable) host memory.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/error.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string>

namespace warpalign::backend {

class PageableMemory final : public HostMemory {
 public:
  explicit PageableMemory(std::size_t bytes) : bytes_(new (std::nothrow) std::byte[bytes]) {
    if (bytes_ == nullptr) {
      throw Error(ErrorKind::out_of_memory,
                  "the host cannot allocate " + std::to_string(bytes) + " bytes of memory", {});
    }
  }
  [[nodiscard]] void* data() const noexcept override { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace warpalign::backend
