// Writes NumPy's .npy files, version 1, as numpy.save does.
#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace warpalign::program {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they stand");

std::string descr_of(PixelType type) {
  if (type == PixelType::c32) return "<c8";
  const std::size_t bytes = size_of(type);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', *name_of(type), bytes);
}

}  // namespace

std::vector<std::byte> npy_header(const std::vector<std::int64_t>& extents, PixelType type,
                                  std::size_t least) {
  constexpr std::size_t preamble = 10;   // magic, version, length of the header
  constexpr std::size_t alignment = 64;  // of the numbers, so that the file can be mapped
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr_of(type),
                  fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
  const std::size_t wanted = std::max(least, preamble + header.size() + 1);
  const std::size_t whole = (wanted + alignment - 1) / alignment * alignment;
  header.append(whole - preamble - header.size() - 1, ' ');
  header += '\n';

  std::string start = "\x93NUMPY";
  start += '\x01';
  start += '\0';
  start += static_cast<char>(header.size() & 0xffU);
  start += static_cast<char>(header.size() >> 8U);
  start += header;
  std::vector<std::byte> bytes(start.size());
  std::memcpy(bytes.data(), start.data(), start.size());
  return bytes;
}

std::vector<std::byte> write_npy(const Array& array) {
  std::vector<std::byte> file = npy_header(array.extents, array.type);
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

}  // namespace warpalign::program
