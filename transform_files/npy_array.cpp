// NumPy's arrays in files (.npy).
#include "npy_array.hpp"

#include "text.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpalign::transform_files {
namespace {

static_assert(std::endian::native == std::endian::little, "values are read as they are");

/// The value of a key in the header, a Python dictionary.
std::string_view value_of(std::string_view header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "'");
  const std::size_t colon = header.find(':', at);
  if (at == std::string_view::npos || colon == std::string_view::npos) {
    refuse("its header has no '" + key + "'");
  }
  return trimmed(header.substr(colon + 1));
}

std::vector<std::size_t> shape_of(std::string_view header) {
  std::string_view value = value_of(header, "shape");
  if (!value.starts_with('(') || value.find(')') == std::string_view::npos) {
    refuse("its header is damaged");
  }
  std::string list(value.substr(1, value.find(')') - 1));
  std::replace(list.begin(), list.end(), ',', ' ');
  std::vector<std::size_t> shape;
  for (const double extent : numbers_of(list, "the shape")) {
    if (!(extent >= 1) || !(extent <= static_cast<double>(max_npy_extent))) {
      refuse("the array's shape is invalid");
    }
    shape.push_back(static_cast<std::size_t>(extent));
  }
  return shape;
}

std::string type_of(std::string_view header) {
  const std::string_view value = value_of(header, "descr");
  const std::size_t end = value.find('\'', 1);
  if (!value.starts_with('\'') || end == std::string_view::npos) {
    refuse("its elements are not numbers");
  }
  return std::string(value.substr(1, end - 1));
}

template <class Value>
std::vector<double> values_of(std::string_view data, std::size_t count) {
  if (data.size() != count * sizeof(Value)) {
    refuse("the file is cut short, or longer than its array");
  }
  std::vector<double> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Value value{};
    std::memcpy(&value, data.data() + i * sizeof value, sizeof value);
    values.push_back(static_cast<double>(value));
  }
  return values;
}

}  // namespace

std::size_t NpyArray::count() const {
  constexpr std::size_t max_count = std::size_t{1} << 31;
  std::size_t product = 1;
  for (const std::size_t extent : shape) {
    if (extent > max_count / product) refuse("the array is larger than a field may be");
    product *= extent;
  }
  return product;
}

std::vector<double> NpyArray::reals() const {
  if (type == "<f4") return values_of<float>(data, count());
  if (type == "<f8") return values_of<double>(data, count());
  refuse("its numbers are not float64 or float32 in little-endian order");
}

NpyArray npy_array_of(std::string_view bytes) {
  const std::size_t lengths = bytes.size() > 6 && bytes[6] != 1 ? 4 : 2;
  if (!bytes.starts_with(npy_magic) || bytes.size() < 8 + lengths) refuse("it is no .npy file");
  std::size_t length = 0;
  for (std::size_t i = lengths; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  if (length > bytes.size() - 8 - lengths) refuse("the file is cut short");
  const std::string_view header = bytes.substr(8 + lengths, length);
  NpyArray array{.type = type_of(header), .shape = shape_of(header)};
  array.fortran = value_of(header, "fortran_order").starts_with("True");
  array.data = bytes.substr(8 + lengths + length);
  return array;
}

std::string npy_start(std::string_view type, std::span<const std::size_t> shape) {
  std::string extents;
  for (const std::size_t extent : shape) extents += std::to_string(extent) + ", ";
  // A tuple of one has a comma behind it.
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" +
                       extents + "), }";
  header.resize((10 + header.size()) / 64 * 64 + 63 - 10, ' ');
  header += '\n';
  std::string file = std::string(npy_magic) + '\x01' + '\0';
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header;
}

}  // namespace warpalign::transform_files
