// A folder of outputs that are written once all of them are ready.
#include "io/output_folder.hpp"

#include <fmt/format.h>

#include <cstring>
#include <system_error>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

/// The folders of the path that do not exist yet, innermost first.
std::vector<Path> missing_folders(Path path) {
  std::vector<Path> missing;
  std::error_code failed;
  while (!path.empty() && !std::filesystem::exists(path, failed)) {
    missing.push_back(path);
    path = path.parent_path();
  }
  return missing;
}

void remove_empty(const std::vector<Path>& folders) noexcept {
  std::error_code ignored;
  for (const Path& folder : folders) std::filesystem::remove(folder, ignored);
}

}  // namespace

OutputFolder::OutputFolder(const Path& path) : path_(path), made_(missing_folders(path)) {
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed || !std::filesystem::is_directory(path_)) {
    remove_empty(made_);
    throw FileError(
        fmt::format("{}: the folder cannot be created ({}); choose another folder", path_.string(),
                    failed ? failed.message() : std::string("the name is taken by a file")));
  }
  try {
    const AtomicFile probe(path_ / ".warpalign-probe");
  } catch (const FileError&) {
    remove_empty(made_);
    throw FileError(fmt::format("{}: cannot be written to; choose another folder", path_.string()));
  }
}

OutputFolder::~OutputFolder() {
  if (!committed_) remove_empty(made_);
}

void OutputFolder::add(const std::string& name, std::vector<std::byte> bytes) {
  files_.emplace_back(name, std::move(bytes));
}

void OutputFolder::add_text(const std::string& name, const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  add(name, std::move(bytes));
}

void OutputFolder::add_png(const std::string& name, const LoadedImage& image) {
  add(name, encode_image(image, FileFormat::png));
}

void OutputFolder::write_now(const std::string& name, const std::vector<std::byte>& bytes,
                             Unfinished unfinished) {
  AtomicFile file(path_ / name, unfinished);
  file.truncate(0);
  file.write(bytes);
  file.commit();
  committed_ = true;
}

void OutputFolder::commit() {
  for (const auto& [name, bytes] : files_) write_now(name, bytes);
  committed_ = true;
}

std::vector<std::string> OutputFolder::names() const {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_) names.push_back(name);
  return names;
}

}  // namespace warpalign::program
