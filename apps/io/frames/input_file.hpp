// A file that is read in parts, at any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace warpalign::program {

/// An open regular file. Messages do not name it: the caller does.
class InputFile {
 public:
  /// Throws FileError when it is missing, unreadable or no regular file.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Its size now: another program may change it. Throws FileError.
  [[nodiscard]] std::uint64_t size() const;
  /// Fills `to` from `offset` on, as far as the file goes. Returns the bytes that were read.
  /// Throws FileError.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  int descriptor_ = -1;
};

}  // namespace warpalign::program
