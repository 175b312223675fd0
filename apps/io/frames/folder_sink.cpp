// Writes aligned frames as images to a folder.
#include "io/frames/folder_sink.hpp"

#include "io/frames/recording_tiff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace warpalign::program {

namespace {

constexpr std::size_t least_digits = 4;

/// A TIFF file of one frame.
std::vector<std::byte> encode_planes(std::span<const LoadedImage> planes,
                                     const RecordingFormat& format) {
  const RecordingTiff layout(planes.front(), format, 1);
  std::vector<std::byte> file = layout.header(1);
  const std::uint64_t offset = file.size();
  std::vector<std::vector<std::byte>> directories;
  for (const auto piece : layout.record(0, offset, planes, directories)) {
    file.insert(file.end(), piece.begin(), piece.end());
  }
  if (const auto end = layout.end_of_chain(0, offset)) {
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(*end), layout.is_big() ? 8 : 4,
                std::byte{});
  }
  return file;
}

}  // namespace

FolderSink::FolderSink(const std::filesystem::path& folder, std::size_t expected, PixelType type,
                       Unfinished unfinished, RecordingFormat format)
    : folder_(folder),
      digits_(static_cast<int>(std::max(least_digits, std::to_string(expected).size()))),
      format_(format.planes() == 1 && (type == PixelType::u8 || type == PixelType::u16)
                  ? FileFormat::png
                  : FileFormat::tiff),
      recording_(std::move(format)),
      unfinished_(unfinished) {
  // The labels of slices are those of the whole recording.
  recording_.imagej_tags = {};
  recording_.has_all_planes = false;
}

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

void FolderSink::write(std::size_t index, const std::string& stem,
                       std::span<const LoadedImage> aligned) {
  if (aligned.empty()) return;
  const std::string name = name_of(index, stem);
  if (aligned.size() > 1) {
    return folder_.write_now(name, encode_planes(aligned, recording_), unfinished_);
  }
  folder_.write_now(name, encode_image(aligned.front(), format_), unfinished_);
}

}  // namespace warpalign::program
