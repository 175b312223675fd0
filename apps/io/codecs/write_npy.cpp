// Writes NumPy's .npy files, version 1, as numpy.save does.
#include "io/npy.hpp"

#include <fmt/format.h>

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

std::vector<std::byte> write_npy(const Array& array) {
  constexpr std::size_t preamble = 10;   // magic, version, length of the header
  constexpr std::size_t alignment = 64;  // of the numbers, so that they can be mapped
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr_of(array.type), fmt::join(array.extents, ", "),
                                   array.extents.size() == 1 ? "," : "");
  const std::size_t used = (preamble + header.size() + 1) % alignment;
  header.append(used == 0 ? 0 : alignment - used, ' ');
  header += '\n';

  std::string start = "\x93NUMPY";
  start += '\x01';
  start += '\0';
  start += static_cast<char>(header.size() & 0xffU);
  start += static_cast<char>(header.size() >> 8U);
  start += header;
  std::vector<std::byte> file(start.size() + array.bytes.size());
  std::memcpy(file.data(), start.data(), start.size());
  std::memcpy(file.data() + start.size(), array.bytes.data(), array.bytes.size());
  return file;
}

}  // namespace warpalign::program
