// Aligned frames as images in a folder.
#include "io/frames/folder_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace warpalign::program {

std::string aligned_stem(std::size_t index, const std::string& stem, int digits) {
  return fmt::format("{:0{}}_{}", index, digits, stem);
}

int digits_of(std::size_t expected) {
  return std::max(4, static_cast<int>(std::to_string(expected).size()));
}

FolderSink::FolderSink(const std::filesystem::path& folder, std::size_t expected, PixelType type,
                       Unfinished unfinished)
    : folder_(folder),
      digits_(digits_of(expected)),
      format_(type == PixelType::u8 || type == PixelType::u16 ? FileFormat::png : FileFormat::tiff),
      unfinished_(unfinished) {}

std::string FolderSink::name_of(std::size_t index, const std::string& stem) const {
  return fmt::format("{}.{}", aligned_stem(index, stem, digits_),
                     format_ == FileFormat::tiff ? "tif" : "png");
}

bool FolderSink::lacks(std::size_t index, const std::string& stem) const {
  std::error_code failed;
  return !std::filesystem::exists(folder_.path() / name_of(index, stem), failed);
}

void FolderSink::write(std::size_t index, const std::string& stem, const LoadedImage* aligned) {
  if (aligned == nullptr) return;
  folder_.write_now(name_of(index, stem), encode_image(*aligned, format_), unfinished_);
}

}  // namespace warpalign::program
