// Random access to a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace warpalign::program {

/// An open regular file. Error messages omit its name; the caller adds it.
class InputFile {
 public:
  /// Opens the file. Throws FileError if it is missing, unreadable or not a regular file.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The current size, which another program may change. Throws FileError.
  [[nodiscard]] std::uint64_t size() const;
  /// Reads into `to` from `offset`, as far as the file goes. Returns the number of bytes read.
  /// Throws FileError.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  int descriptor_ = -1;
};

}  // namespace warpalign::program
