// Reads the numbers of NumPy's .npy files.
#include "io/byte_order.hpp"
#include "io/codecs/npy_layout.hpp"
#include "io/input_limits.hpp"
#include "io/narrow_integers.hpp"
#include "io/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace warpalign::program {
namespace {

static_assert(std::endian::native == std::endian::little, "little-endian numbers are copied");

void check_dimensions(const std::vector<std::int64_t>& extents, int most) {
  const auto axes = static_cast<int>(extents.size());
  if (axes < 1 || axes > most) {
    throw FileError(fmt::format("has the shape ({}), with {} dimensions; 1 to {} are allowed",
                                fmt::join(extents, ", "), axes, most));
  }
}

void check_size(const std::vector<std::int64_t>& extents, std::size_t bytes, std::size_t found) {
  std::size_t wanted = bytes;  // cannot overflow: limited by the size of the file
  for (const std::int64_t extent : extents) {
    if (extent == 0) throw FileError("contains no numbers");
    if (wanted > found / static_cast<std::size_t>(extent)) {
      throw damaged(fmt::format("it has {} bytes of numbers, fewer than its shape ({}) needs",
                                found, fmt::join(extents, ", ")));
    }
    wanted *= static_cast<std::size_t>(extent);
  }
  if (wanted != found) {
    throw damaged(fmt::format("it has {} bytes of numbers, more than its shape ({}) needs", found,
                              fmt::join(extents, ", ")));
  }
  const std::size_t numbers = found / bytes;
  if (numbers > static_cast<std::size_t>(max_pixels())) {
    throw FileError(fmt::format(
        "has {} numbers, more than --max-pixels {} allows: crop or shrink it, or raise the limit",
        numbers, max_pixels()));
  }
}

/// Converts Fortran order, where the first axis varies fastest, to C order.
void copy_from_fortran_order(Bytes numbers, std::size_t bytes, Array& array) {
  const std::size_t axes = array.extents.size();
  std::vector<std::int64_t> index(axes, 0);
  for (std::size_t from = 0; from < numbers.size(); from += bytes) {
    std::int64_t to = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) to = to * array.extents[axis] + index[axis];
    std::memcpy(array.bytes.data() + static_cast<std::size_t>(to) * bytes, numbers.data() + from,
                bytes);
    for (std::size_t axis = 0; axis < axes && ++index[axis] == array.extents[axis]; ++axis) {
      index[axis] = 0;
    }
  }
}

}  // namespace

Array read_npy(Bytes file, int max_dimensions) {
  const NpyLayout layout = read_npy_layout(file);
  const Bytes numbers = file.subspan(layout.start);
  check_dimensions(layout.extents, max_dimensions);
  check_size(layout.extents, layout.stored_bytes(), numbers.size());
  Array array = make_array(layout.extents, layout.type);
  array.bytes.resize(numbers.size());
  if (layout.fortran_order) {
    copy_from_fortran_order(numbers, layout.stored_bytes(), array);
  } else {
    std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
  }
  if (layout.big_endian) reverse_words(array.bytes, layout.word);
  if (layout.wide) array.bytes = narrow_integers(array.bytes, layout.type);
  return array;
}

}  // namespace warpalign::program
