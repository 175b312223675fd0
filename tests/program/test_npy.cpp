// NumPy's .npy files: round trips, every version, and every kind of error.
#include "io/array_file.hpp"
#include "program/arrays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
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

TEST_CASE(".npy arrays are read back as they were written") {
  const ScratchFolder folder;
  for (const PixelType type :
       {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32,
        PixelType::i32, PixelType::f16, PixelType::f32, PixelType::f64, PixelType::c32}) {
    for (const std::vector<std::int64_t>& extents :
         {std::vector<std::int64_t>{7}, {1}, {5, 3}, {1, 1}, {2, 3, 4}}) {
      const Array array = random_array(extents, type);
      save_npy(folder / "a.npy", array);
      const Array back = load_npy(folder / "a.npy");
      CHECK(back.extents == array.extents);
      CHECK(back.type == array.type);
      CHECK(back.bytes == array.bytes);
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

TEST_CASE("float64 and bool") {
  const std::vector<double> values{1.0 / 3, -1e300, 1e-300, 16777217.0};
  std::string numbers(values.size() * sizeof(double), '\0');
  std::memcpy(numbers.data(), values.data(), numbers.size());
  const Array array = read_text_as_npy(file_of(1, header_of("<f8", "(4,)"), numbers));
  CHECK(describe(array) == "4, float64");
  CHECK(std::ranges::equal(array.samples<double>(), values));
  const Array truth = read_text_as_npy(file_of(1, header_of("|b1", "(2,)"), {"\1\0", 2}));
  CHECK(describe(truth) == "2, uint8");
  CHECK(truth.samples<std::uint8_t>()[0] == 1);
}

TEST_CASE("big-endian numbers are swapped, each part of a complex one separately") {
  // 1.5 and -2 in IEEE 754: 3fc00000 and c0000000.
  const std::string numbers("\x3f\xc0\0\0\xc0\0\0\0", 8);
  const std::vector<float> expected{1.5F, -2.0F};
  CHECK(numbers_of(read_text_as_npy(file_of(1, header_of(">f4", "(2,)"), numbers))) == expected);
  CHECK(numbers_of(read_text_as_npy(file_of(1, header_of(">c8", "(1,)"), numbers))) == expected);
  const Array integers = read_text_as_npy(file_of(1, header_of(">i2", "(1,)"), {"\xff\xfe", 2}));
  CHECK(integers.samples<std::int16_t>()[0] == -2);
}

TEST_CASE("Fortran order becomes C order") {
  // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]]) is stored as 1 4 2 5 3 6.
  const Array plane =
      read_text_as_npy(file_of(1, header_of("|u1", "(2, 3)", "True"), {"\1\4\2\5\3\6", 6}));
  const std::vector<std::uint8_t> expected{1, 2, 3, 4, 5, 6};
  CHECK(plane.extents == std::vector<std::int64_t>{2, 3});
  CHECK(std::ranges::equal(plane.samples<std::uint8_t>(), expected));
  // numpy.arange(8).reshape(2, 2, 2) is stored as 0 4 2 6 1 5 3 7.
  const Array volume =
      read_text_as_npy(file_of(1, header_of("|u1", "(2, 2, 2)", "True"), {"\0\4\2\6\1\5\3\7", 8}));
  const std::vector<std::uint8_t> counted{0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(std::ranges::equal(volume.samples<std::uint8_t>(), counted));
}

TEST_CASE("numbers in single precision, of every type") {
  const auto floats_of = [](const char* type, const std::string& numbers) {
    const auto bytes = static_cast<std::size_t>(type[2] - '0');
    const std::string shape = "(" + std::to_string(numbers.size() / bytes) + ",)";
    return numbers_of(to_float(read_text_as_npy(file_of(1, header_of(type, shape), numbers))));
  };
  using Floats = std::vector<float>;
  CHECK(floats_of("<i1", "\xff") == Floats{-1});
  CHECK(floats_of("<i2", "\xfe\xff") == Floats{-2});
  CHECK(floats_of("<i4", "\xfd\xff\xff\xff") == Floats{-3});
  CHECK(floats_of("<u4", "\xff\xff\xff\xff") == Floats{0x1p32F});
  CHECK(floats_of("<f8", {"\0\0\0\0\0\0\xf8\x3f", 8}) == Floats{1.5F});
  // Half precision: 1.5, the largest, the smallest, minus infinity.
  CHECK(floats_of("<f2", {"\x00\x3e\xff\x7b\x01\x00\x00\xfc", 8}) ==
        Floats{1.5F, 65504, 0x1p-24F, -std::numeric_limits<float>::infinity()});
}

TEST_CASE("unsupported types") {
  const std::string numbers(64, '\0');
  for (const std::string type : {"<i16", "<c16", "|O", "<U4", "<M8[us]", "", "f4", "=f4"}) {
    check_bad(file_of(1, header_of(type, "(8,)"), numbers), "is of type '" + type + "'");
  }
  check_bad(
      file_of(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (16,), }\n", numbers),
      "records");
}

TEST_CASE("unsupported shapes") {
  const std::string numbers(16, '\0');
  check_bad(file_of(1, header_of("<f4", "()"), numbers), "0 dimensions");
  check_bad(file_of(1, header_of("<f4", "(1, 1, 2, 2)"), numbers), "4 dimensions");
  CHECK(read_text_as_npy(file_of(1, header_of("<f4", "(1, 1, 2, 2)"), numbers), 4).extents.size() ==
        4);
  check_bad(file_of(1, header_of("<f4", "(0, 4)"), ""), "contains no numbers");
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
