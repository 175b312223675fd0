// Writes aligned frames as images to a folder.
#include "io/frames/folder_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace warpalign::program {

namespace {

constexpr std::size_t least_digits = 4;

}  // namespace

FolderSink::FolderSink(const std::filesystem::path& folder, std::size_t expected, PixelType type,
                       Unfinished unfinished)
    : folder_(folder),
      digits_(static_cast<int>(std::max(least_digits, std::to_string(expected).size()))),
      format_(type == PixelType::u8 || type == PixelType::u16 ? FileFormat::png : FileFormat::tiff),
      unfinished_(unfinished) {}

std::string FolderSink::name_of(std::size_t index, const std::string& stem) const {
  return fmt::format("{:0{}}_{}.{}", index, digits_, stem,
                     format_ == FileFormat::tiff ? "tif" : "png");
}

bool FolderSink::may_name(const std::filesystem::path& name, const std::set<std::string>& stems) {
  const std::string extension = name.extension().string();
  if (extension != ".png" && extension != ".tif") return false;
  const std::string stem = name.stem().string();
  const std::size_t digits = std::min(stem.find_first_not_of("0123456789"), stem.size());
  return digits >= least_digits && digits < stem.size() && stem[digits] == '_' &&
         stems.contains(stem.substr(digits + 1));
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
