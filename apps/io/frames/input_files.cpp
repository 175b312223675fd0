// Expands names, folders and patterns to files.
#include "io/frames/input_files.hpp"

#include "io/image_file.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The digits at `position`, without leading zeros.
std::string_view digits_at(std::string_view text, std::size_t& position) {
  while (position < text.size() && text[position] == '0') ++position;
  const std::size_t start = position;
  while (position < text.size() && is_digit(text[position])) ++position;
  return text.substr(start, position - start);
}

bool is_readable_kind(const Path& path) {
  constexpr std::array extensions{".png", ".tif", ".tiff", ".jpg", ".jpeg", ".webp", ".bmp",
                                  ".pbm", ".pgm", ".ppm",  ".pnm", ".pam",  ".npy",  ".y4m"};
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    std::error_code ignored;
    if (hidden || entry->is_directory(ignored) || !is_readable_kind(entry->path())) continue;
    files.push_back(entry->path().string());
  }
  if (failed) {
    throw FileError(fmt::format("{}: the folder cannot be read ({}); check its permissions", folder,
                                failed.message()));
  }
  if (files.empty()) {
    throw FileError(fmt::format(
        "{}: is a folder without images (files that end in .png, .tif, .jpg, .webp, .bmp, .pgm, "
        ".ppm, .npy or .y4m)",
        folder));
  }
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status != 0 || files.empty()) {
    throw FileError(fmt::format("{}: no file matches this pattern; check the pattern", pattern));
  }
  return files;
}

/// The files that a name stands for, or nothing if it is the name of a file.
std::vector<std::string> expanded(const std::string& name) {
  std::error_code failed;
  if (std::filesystem::is_directory(name, failed)) return files_in(name);
  const bool is_pattern = name.find_first_of("*?[") != std::string::npos;
  if (is_pattern && !std::filesystem::exists(name, failed)) return files_like(name);
  return {};
}

}  // namespace

bool in_natural_order(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view left = digits_at(a, i);
      const std::string_view right = digits_at(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  const std::size_t rest_of_a = a.size() - i;
  const std::size_t rest_of_b = b.size() - j;
  return rest_of_a != rest_of_b ? rest_of_a < rest_of_b : a < b;
}

std::vector<std::string> input_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::vector<std::string> found = expanded(name);
    if (found.empty()) files.push_back(name);
    std::sort(found.begin(), found.end(), in_natural_order);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace warpalign::program
