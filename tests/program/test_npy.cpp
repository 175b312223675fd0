// NumPy's .npy files: round trips, every version, and every way in which one can be wrong.
#include "program/arrays.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace warpalign::test {
namespace {

using namespace program;

Array read_text_as_npy(const std::string& file, int max_dimensions = 3) {
  return read_npy(std::as_bytes(std::span(file.data(), file.size())), max_dimensions);
}

std::string file_of(int version, const std::string& header, const std::string& numbers) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> 8 * i & 0xffU);
  }
  return file + header + numbers;
}

std::string header_of(const std::string& type, const std::string& shape,
                      const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

void check_bad(const std::string& file, const std::string& reason, int max_dimensions = 3) {
  CAPTURE(reason);
  std::string message;
  try {
    (void)read_text_as_npy(file, max_dimensions);
  } catch (const FileError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find(reason) != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE(".npy arrays come back as they were written") {
  const ScratchFolder folder;
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32, PixelType::c32}) {
    for (const std::vector<std::int64_t>& extents :
         {std::vector<std::int64_t>{7}, {1}, {5, 3}, {1, 1}, {2, 3, 4}}) {
      const Array array = random_array(extents, type);
      save_npy(folder / "a.npy", array);
      const Array back = load_npy(folder / "a.npy");
      CHECK(back.extents == array.extents);
      CHECK(back.type == array.type);
      CHECK(back.bytes == array.bytes);
      CHECK_FALSE(back.narrowed);
      CHECK(read_text(folder / "a.npy").find('\n') % 64 == 63);  // the numbers are aligned
    }
  }
}

TEST_CASE(".npy headers of every version, as other writers lay them out") {
  const std::string numbers(12, '\x01');
  for (const int version : {1, 2, 3}) {
    CHECK(read_text_as_npy(file_of(version, header_of("|u1", "(3, 4)"), numbers)).extents ==
          std::vector<std::int64_t>{3, 4});
  }
  CHECK(read_text_as_npy(
            file_of(1, "{\"shape\":(3L,2),\"descr\":\"<u2\",\"fortran_order\":False}", numbers))
            .type == PixelType::u16);
  CHECK(read_text_as_npy(file_of(1, header_of("<u1", "(12,)"), numbers)).shape() ==
        Shape{12, 1, 1});
}

TEST_CASE("float64 becomes float32, rounded to the nearest") {
  const std::vector<double> values{1.0 / 3, -1e300, 1e-300, 16777217.0};
  std::string numbers(values.size() * sizeof(double), '\0');
  std::memcpy(numbers.data(), values.data(), numbers.size());
  const Array array = read_text_as_npy(file_of(1, header_of("<f8", "(4,)"), numbers));
  CHECK(array.narrowed);
  CHECK(describe(array) == "4, float32 rounded from float64");
  CHECK(numbers_of(array) == std::vector<float>{static_cast<float>(1.0 / 3),
                                                -std::numeric_limits<float>::infinity(), 0,
                                                16777216.0F});
}

TEST_CASE("types and orders that are not read") {
  const std::string numbers(64, '\0');
  check_bad(file_of(1, header_of(">f4", "(16,)"), numbers), "big-endian");
  for (const std::string type : {"<i4", "|b1", "<f2", "<c16", "|O", "<U4", "<M8[us]", ""}) {
    check_bad(file_of(1, header_of(type, "(8,)"), numbers), "is of type '" + type + "'");
  }
  check_bad(
      file_of(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (16,), }\n", numbers),
      "records");
  check_bad(file_of(1, header_of("<f4", "(4, 4)", "True"), numbers), "Fortran");
}

TEST_CASE("shapes that are not read") {
  const std::string numbers(16, '\0');
  check_bad(file_of(1, header_of("<f4", "()"), numbers), "0 dimensions");
  check_bad(file_of(1, header_of("<f4", "(1, 1, 2, 2)"), numbers), "4 dimensions");
  CHECK(read_text_as_npy(file_of(1, header_of("<f4", "(1, 1, 2, 2)"), numbers), 4).extents.size() ==
        4);
  check_bad(file_of(1, header_of("<f4", "(0, 4)"), ""), "empty");
  check_bad(file_of(1, header_of("<f4", "(5,)"), numbers), "fewer than its shape (5)");
  check_bad(file_of(1, header_of("<f4", "(3,)"), numbers), "more than its shape (3)");
  check_bad(file_of(1, header_of("<f4", "(2, -2)"), numbers), "not made of numbers");
  check_bad(file_of(1, header_of("<f4", "(4294967296, 4294967296)"), numbers), "fewer");
  check_bad(file_of(1, header_of("<f4", "(99999999999999999999,)"), numbers), "too large");
}

TEST_CASE("damaged files, cut anywhere") {
  const std::string whole = file_of(1, header_of("<f4", "(2, 2)"), std::string(16, '\0'));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS((void)read_text_as_npy(whole.substr(0, size)), FileError);
  }
  check_bad(file_of(4, header_of("<f4", "(2, 2)"), std::string(16, '\0')), "version 4");
  check_bad(file_of(1, "{}", ""), "lacks one of");
  check_bad(file_of(1, "{'descr': '<f4'}", ""), "lacks one of");
  check_bad(file_of(1, "", ""), "lacks a '{'");
  check_bad(file_of(1, "{'descr': '<f4', 'order': 3}", ""), "unexpected key 'order'");
  check_bad(file_of(1, "{'descr': '<f4', 'descr': '<f4'}", ""), "unexpected key 'descr'");
  check_bad(file_of(1, "{'fortran_order': 1}", ""), "neither True nor False");
  check_bad(file_of(1, header_of("<f4", "(2, 2)") + "x", std::string(16, '\0')), "after its end");
  check_bad("P5\n2 2\n255\n0000", "not a .npy file");
}

TEST_CASE("extents beyond the limits are refused before memory is taken") {
  CHECK_THROWS_AS((void)make_array({max_extent + 1}, PixelType::u8), FileError);
  CHECK_THROWS_AS((void)make_array({max_extent, max_extent, max_extent}, PixelType::c32),
                  FileError);
  CHECK_THROWS_AS((void)make_array({3, 0}, PixelType::u8), FileError);
}

}  // namespace
}  // namespace warpalign::test
