// NIfTI files: round trips, both versions and byte orders, and every kind of error. The tests
// build files byte by byte from the format's definition (nifti1.h, nifti2.h).
#include "io/gzip.hpp"
#include "io/nifti.hpp"
#include "program/arrays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using Bytes = std::vector<std::byte>;

template <typename Number>
void put(Bytes& bytes, std::size_t at, Number number, bool big_endian = false) {
  std::array<std::byte, sizeof number> words{};
  std::memcpy(words.data(), &number, sizeof number);
  if (big_endian) std::ranges::reverse(words);
  std::ranges::copy(words, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

/// A NIfTI-1 file of 2 x 3 x 4 voxels of int16 with values 100 apart, and a voxel size of 0.5 x
/// 0.75 x 2 mm.
Bytes nifti1_file(bool big_endian = false) {
  Bytes file(352 + 24 * 2);
  const auto set = [&](std::size_t at, auto number) { put(file, at, number, big_endian); };
  set(0, std::int32_t{348});
  const std::int16_t dim[] = {3, 4, 3, 2, 1, 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) set(40 + 2 * i, dim[i]);
  set(70, std::int16_t{4});
  set(72, std::int16_t{16});
  const float pixdim[] = {1, 0.5F, 0.75F, 2};
  for (std::size_t i = 0; i < 4; ++i) set(76 + 4 * i, pixdim[i]);
  set(108, 352.0F);
  file[123] = std::byte{2};  // millimetres
  std::memcpy(file.data() + 344, "n+1", 4);
  for (std::size_t i = 0; i < 24; ++i) set(352 + 2 * i, static_cast<std::int16_t>(100 * i - 700));
  return file;
}

/// The same as NIfTI-2, in micrometres.
Bytes nifti2_file(bool big_endian = false) {
  Bytes file(544 + 24 * 2);
  const auto set = [&](std::size_t at, auto number) { put(file, at, number, big_endian); };
  set(0, std::int32_t{540});
  std::memcpy(file.data() + 4, "n+2\0\r\n\032\n", 8);
  set(12, std::int16_t{4});
  set(14, std::int16_t{16});
  const std::int64_t dim[] = {3, 4, 3, 2, 1, 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) set(16 + 8 * i, dim[i]);
  const double pixdim[] = {1, 500, 750, 2000};
  for (std::size_t i = 0; i < 4; ++i) set(104 + 8 * i, pixdim[i]);
  set(168, std::int64_t{544});
  set(500, std::int32_t{3});
  for (std::size_t i = 0; i < 24; ++i) set(544 + 2 * i, static_cast<std::int16_t>(100 * i - 700));
  return file;
}

void check_small_volume(const NiftiVolume& volume) {
  CHECK(volume.voxels.extents == std::vector<std::int64_t>{2, 3, 4});
  REQUIRE(volume.voxels.type == PixelType::i16);
  for (std::size_t i = 0; i < 24; ++i) {
    CHECK(volume.voxels.samples<std::int16_t>()[i] == static_cast<std::int16_t>(100 * i - 700));
  }
  CHECK(volume.geometry.spacing[0] == doctest::Approx(0.5));
  CHECK(volume.geometry.spacing[1] == doctest::Approx(0.75));
  CHECK(volume.geometry.spacing[2] == doctest::Approx(2));
}

void check_bad(const Bytes& file, const std::string& reason) {
  CAPTURE(reason);
  std::string message;
  try {
    (void)read_nifti(file);
  } catch (const FileError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find(reason) != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("NIfTI: both versions and both byte orders, compressed or not") {
  for (const Bytes& file : {nifti1_file(), nifti1_file(true), nifti2_file(), nifti2_file(true)}) {
    check_small_volume(read_nifti(file));
    check_small_volume(read_nifti(compress_gzip(file)));
  }
}

TEST_CASE("NIfTI: written volumes are read back, with the header's geometry") {
  for (Bytes file : {nifti1_file(), nifti1_file(true), nifti2_file(), nifti2_file(true)}) {
    const NiftiVolume read = read_nifti(file);
    for (const PixelType type : {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16,
                                 PixelType::u32, PixelType::i32, PixelType::f32, PixelType::f64}) {
      const Array voxels = random_array({5, 6, 7}, type);
      for (const bool compressed : {false, true}) {
        const NiftiVolume back = read_nifti(write_nifti(voxels, read.header, compressed));
        CHECK(back.voxels.extents == voxels.extents);
        CHECK(back.voxels.type == type);
        CHECK(back.voxels.bytes == voxels.bytes);
        CHECK(back.geometry.spacing == read.geometry.spacing);
      }
    }
    CHECK_THROWS_AS((void)write_nifti(random_array({2, 2, 2}, PixelType::f16), read.header, false),
                    FileError);
  }
  const auto plain = plain_nifti_header({0.25, 1.5, 3});
  const NiftiVolume back =
      read_nifti(write_nifti(random_array({3, 2, 4}, PixelType::u8), plain, true));
  CHECK(back.geometry.spacing == std::array<double, 3>{0.25, 1.5, 3});
  CHECK_FALSE(back.geometry.left_handed.has_value());
}

TEST_CASE("NIfTI: the sform gives the voxel sizes, and whether the axes are mirrored") {
  Bytes file = nifti1_file();
  put(file, 254, std::int16_t{1});
  // Rotated about z: the x axis runs along (0.6, 0.8, 0) mm, y along (-1.6, 1.2, 0), z along (0,
  // 0, 3).
  const float rows[] = {0.6F, -1.6F, 0, 5, 0.8F, 1.2F, 0, 6, 0, 0, 3, 7};
  for (std::size_t i = 0; i < 12; ++i) put(file, 280 + 4 * i, rows[i]);
  NiftiVolume volume = read_nifti(file);
  CHECK(volume.geometry.spacing[0] == doctest::Approx(1));
  CHECK(volume.geometry.spacing[1] == doctest::Approx(2));
  CHECK(volume.geometry.spacing[2] == doctest::Approx(3));
  CHECK(volume.geometry.left_handed == false);
  // After writing and reading the geometry is the same.
  volume = read_nifti(write_nifti(volume.voxels, volume.header, false));
  CHECK(volume.geometry.spacing[1] == doctest::Approx(2));
  put(file, 280 + 4 * 10, -3.0F);
  CHECK(read_nifti(file).geometry.left_handed == true);
  Bytes by_quaternion = nifti1_file();
  CHECK_FALSE(read_nifti(by_quaternion).geometry.left_handed.has_value());
  put(by_quaternion, 252, std::int16_t{1});
  CHECK(read_nifti(by_quaternion).geometry.left_handed == false);
  put(by_quaternion, 76, -1.0F);
  CHECK(read_nifti(by_quaternion).geometry.left_handed == true);
}

TEST_CASE("NIfTI: slope and intercept are applied if there are any") {
  Bytes file = nifti1_file();
  put(file, 112, 0.5F);
  put(file, 116, -3.0F);
  const NiftiVolume volume = read_nifti(file);
  REQUIRE(volume.voxels.type == PixelType::f32);
  for (std::size_t i = 0; i < 24; ++i) {
    CHECK(volume.voxels.samples<float>()[i] ==
          0.5F * static_cast<float>(100.0 * static_cast<double>(i) - 700) - 3);
  }
  put(file, 112, 1.0F);
  put(file, 116, 0.0F);
  check_small_volume(read_nifti(file));
  put(file, 112, std::nanf(""));
  check_bad(file, "scl_slope");
}

TEST_CASE("NIfTI: truncated files, odd types and axes, and other files are refused in one line") {
  const Bytes good = nifti1_file();
  const auto with = [&](std::size_t at, auto number) {
    Bytes file = good;
    put(file, at, number);
    return file;
  };
  check_bad(Bytes(good.begin(), good.begin() + 100), "too short");
  check_bad(Bytes(good.begin(), good.begin() + 350), "truncated");
  check_bad(Bytes(good.begin(), good.end() - 1), "truncated: its voxels take 48 bytes");
  const Bytes compressed = compress_gzip(good);
  check_bad(Bytes(compressed.begin(), compressed.begin() + 40), "too short");
  check_bad(Bytes(compressed.begin(), compressed.end() - 20), "truncated");
  check_bad(Bytes(compressed.begin(), compressed.end() - 3), "checksum");
  Bytes wrong_sum = compressed;
  wrong_sum[wrong_sum.size() - 6] ^= std::byte{1};
  check_bad(wrong_sum, "damaged");
  Bytes damaged = compressed;
  for (std::size_t i = 12; i < 30; ++i) damaged[i] ^= std::byte{0xff};
  check_bad(damaged, "damaged");
  check_bad(with(0, std::int32_t{347}), "not NIfTI");
  check_bad(with(344, std::int32_t{0}), "n+1");
  Bytes pair = good;
  std::memcpy(pair.data() + 344, "ni1", 4);
  check_bad(pair, ".img");
  check_bad(with(70, std::int16_t{32}), "complex");
  check_bad(with(70, std::int16_t{128}), "colours");
  check_bad(with(70, std::int16_t{1024}), "truncated: its voxels take 192 bytes");
  check_bad(with(70, std::int16_t{5}), "unknown");
  check_bad(with(40, std::int16_t{2}), "2 dimensions");
  check_bad(with(40, std::int16_t{8}), "8 axes");
  Bytes series = with(40, std::int16_t{4});
  put(series, 48, std::int16_t{10});
  check_bad(series, "10 volumes: choose one with --volume N (0 to 9)");
  Bytes vectors = with(40, std::int16_t{5});
  put(vectors, 50, std::int16_t{3});
  check_bad(vectors, "3 values for each voxel");
  check_bad(with(42, std::int16_t{0}), "it is empty");
  check_bad(with(42, std::int16_t{-4}), "it is empty");
  check_bad(with(108, 10.0F), "byte 10");
  check_bad(with(108, std::nanf("")), "damaged");
  // The header promises 8 GiB and more, which are not in the file.
  Bytes bomb = good;
  for (std::size_t i = 1; i < 4; ++i) put(bomb, 40 + 2 * i, std::int16_t{32767});
  check_bad(bomb, "8 GiB");
}

TEST_CASE("NIfTI: one volume of a series") {
  Bytes series = nifti1_file();
  put(series, 40, std::int16_t{4});
  put(series, 48, std::int16_t{3});
  const Bytes voxels(series.begin() + 352, series.end());
  for (int i = 1; i < 3; ++i) series.insert(series.end(), voxels.begin(), voxels.end());
  put(series, 352 + 48, std::int16_t{1234});
  for (const Bytes& file : {series, compress_gzip(series)}) {
    CHECK(read_nifti(file, 0).voxels.samples<std::int16_t>()[0] == -700);
    CHECK(read_nifti(file, 1).voxels.samples<std::int16_t>()[0] == 1234);
    check_small_volume(read_nifti(file, 2));
  }
  CHECK_THROWS_WITH_AS((void)read_nifti(series, 3),
                       "holds 3 volumes, so there is no volume 3 (they count from 0)", FileError);
  // The volumes before the cut are whole.
  const Bytes cut(series.begin(), series.end() - 60);
  CHECK(read_nifti(cut, 0).voxels.samples<std::int16_t>()[0] == -700);
  CHECK_THROWS_AS((void)read_nifti(cut, 1), FileError);
}

TEST_CASE("NIfTI: a series is read with the memory of one volume") {
  Bytes file = nifti1_file();
  put(file, 40, std::int16_t{4});
  put(file, 48, std::int16_t{2});
  file.resize(352 + 2 * 48);
  const Bytes whole = compress_gzip(file);
  NiftiReader reader(whole);
  CHECK(reader.volumes() == 2);
  CHECK(reader.next().extents == std::vector<std::int64_t>{2, 3, 4});
  CHECK(reader.next().samples<std::int16_t>()[0] == 0);
  CHECK_FALSE(reader.cut_short());
  CHECK_THROWS_AS((void)reader.next(), FileError);
}

TEST_CASE("NIfTI: integers of 64 bits become a type that holds all of them") {
  const auto with_values = [](std::int16_t code, auto first, auto second) {
    Bytes file = nifti1_file();
    file.resize(352 + 24 * 8);
    std::fill(file.begin() + 352, file.end(), std::byte{0});
    put(file, 70, code);
    put(file, 72, std::int16_t{64});
    put(file, 352, first);
    put(file, 360, second);
    return file;
  };
  const NiftiVolume small =
      read_nifti(with_values(1024, std::int64_t{-5}, std::int64_t{2147483647}));
  REQUIRE(small.voxels.type == PixelType::i32);
  CHECK(small.voxels.samples<std::int32_t>()[0] == -5);
  CHECK(small.voxels.samples<std::int32_t>()[1] == 2147483647);
  const NiftiVolume large =
      read_nifti(with_values(1280, std::uint64_t{4294967295}, std::uint64_t{0}));
  REQUIRE(large.voxels.type == PixelType::u32);
  CHECK(large.voxels.samples<std::uint32_t>()[0] == 4294967295U);
  const NiftiVolume wide = read_nifti(with_values(1024, -(std::int64_t{1} << 53), std::int64_t{1}));
  REQUIRE(wide.voxels.type == PixelType::f64);
  CHECK(wide.voxels.samples<double>()[0] == -9007199254740992.0);
  check_bad(with_values(1024, (std::int64_t{1} << 53) + 1, std::int64_t{0}), "beyond 2^53");
  check_bad(with_values(1280, std::uint64_t{1} << 63, std::uint64_t{0}), "beyond 2^53");
}

TEST_CASE("NIfTI: a sform and a qform that contradict each other") {
  Bytes file = nifti1_file();
  put(file, 252, std::int16_t{1});
  CHECK(read_nifti(file).geometry.has_position);
  CHECK(read_nifti(file).geometry.contradiction.empty());
  put(file, 254, std::int16_t{1});
  const float rows[] = {0.5F, 0, 0, 0, 0, 0.75F, 0, 0.2F, 0, 0, 2, 0};
  for (std::size_t i = 0; i < 12; ++i) put(file, 280 + 4 * i, rows[i]);
  CHECK(read_nifti(file).geometry.contradiction.empty());  // less than half a voxel
  put(file, 280 + 4 * 3, 9.0F);
  const NiftiGeometry geometry = read_nifti(file).geometry;
  CHECK(geometry.contradiction.find("9 mm apart; the sform counts") != std::string::npos);
  CHECK(geometry.index_to_world.m[3] == doctest::Approx(9));
  CHECK_FALSE(read_nifti(nifti1_file()).geometry.has_position);
}

}  // namespace
}  // namespace warpalign::test
