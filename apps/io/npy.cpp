// Arrays in memory. Loads arrays, and adds the name of the file to all messages.
#include "io/npy.hpp"

#include "io/file_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace warpalign::program {
namespace {

std::string numpy_name(PixelType type) {
  if (type == PixelType::c32) return "complex64";
  const char* kind = name_of(type);  // such as "u8"
  return fmt::format("{}{}", *kind == 'u' ? "uint" : *kind == 'i' ? "int" : "float", kind + 1);
}

std::size_t bytes_of(const std::vector<std::int64_t>& extents, PixelType type) {
  const auto refuse = [&](std::string_view why) {
    throw FileError(fmt::format("has the shape {}; {}", fmt::join(extents, " x "), why));
  };
  auto bytes = static_cast<std::int64_t>(size_of(type));
  for (const std::int64_t extent : extents) {
    if (extent < 1) refuse("it is empty");
    if (extent > max_extent) refuse("the limit is 2^30 along each axis");
    if (bytes > max_array_bytes / extent) refuse("the limit is 8 GiB: crop or shrink it");
    bytes *= extent;
  }
  return static_cast<std::size_t>(bytes);
}

template <typename Work>
auto naming(const std::filesystem::path& path, const Work& work) {
  try {
    return work();
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace

Shape Array::shape() const noexcept {
  Shape shape{1, 1, 1};
  const std::size_t axes = extents.size();
  if (axes >= 1) shape.width = extents[axes - 1];
  if (axes >= 2) shape.height = extents[axes - 2];
  if (axes >= 3) shape.depth = extents[axes - 3];
  return shape;
}

void check_extents(const std::filesystem::path& path, const std::vector<std::int64_t>& extents,
                   PixelType type) {
  naming(path, [&] { return bytes_of(extents, type); });
}

Array make_array(const std::vector<std::int64_t>& extents, PixelType type) {
  return {extents, type, std::vector<std::byte>(bytes_of(extents, type))};
}

std::string describe(const Array& array) {
  return fmt::format("{}, {}", fmt::join(array.extents, " x "), numpy_name(array.type));
}

bool is_npy(const std::filesystem::path& path) {
  constexpr std::string_view magic = "\x93NUMPY";
  return naming(path, [&] {
    const FileBytes file(path);
    const auto head = file.head();
    return head.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), head.begin(), [](char wanted, std::byte found) {
             return static_cast<std::byte>(wanted) == found;
           });
  });
}

bool is_npy_name(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".npy";
}

Array load_npy(const std::filesystem::path& path, int max_dimensions) {
  return naming(path, [&] {
    FileBytes file(path);
    return read_npy(file.all(), max_dimensions);
  });
}

}  // namespace warpalign::program
