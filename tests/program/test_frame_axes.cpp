// The axes of stacks: how --axes names them, and ImageJ's channels that are frames.
#include "io/frames/axis_letters.hpp"
#include "io/frames/frame_sequence.hpp"
#include "io/usage_error.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <tiffio.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;

constexpr Shape shape{23, 17, 1};

PlaneChoice axes(const std::string& letters, std::optional<int> channel = {},
                 std::optional<int> slice = {}) {
  return {channel, slice, letters};
}

std::vector<LoadedImage> numbered(std::size_t count, PixelType type = PixelType::u16,
                                  int channels = 1) {
  std::vector<LoadedImage> frames;
  for (std::size_t i = 0; i < count; ++i) {
    frames.push_back(numbered_frame(i, shape, type, channels));
  }
  return frames;
}

void check_frames(const std::string& file, const std::vector<LoadedImage>& expected,
                  const PlaneChoice& choice) {
  FrameSequence source({file}, choice);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const std::optional<Frame> frame = source.next();
    REQUIRE(frame);
    REQUIRE(frame->trouble == "");
    CHECK(frame->image.channels == expected[i].channels);
    CHECK(frame->image.pixels == expected[i].pixels);
  }
  CHECK_FALSE(source.next());
  CHECK(source.ended_early().empty());
}

std::string trouble_with(const std::string& file, const PlaneChoice& choice) {
  const std::optional<Frame> frame = FrameSequence({file}, choice).next();
  REQUIRE(frame);
  return frame->trouble;
}

void write_described(const std::string& path, const std::vector<LoadedImage>& pages,
                     const std::string& description) {
  write_tiff_stack(path, pages, {"w", COMPRESSION_NONE, false, description});
}

TEST_CASE("axes: letters that are no axes are refused") {
  check_axis_letters("TZCYXS");
  check_axis_letters("YX");
  for (const char* letters : {"", "TYXQ", "TTYX", "TX", "CYS", "tyx"}) {
    CAPTURE(letters);
    CHECK_THROWS_WITH_AS(check_axis_letters(letters), doctest::Contains("as in TCYX"), UsageError);
  }
}

TEST_CASE("axes: the pages of a TIFF") {
  const ScratchFolder folder;
  const std::string path = folder / "stack.tif";
  const auto pages = numbered(6);
  // Without a description the file has one axis in front of its rows.
  write_described(path, pages, "");
  check_frames(path, pages, axes("TYX"));
  check_frames(path, pages, axes("ZYX"));
  check_frames(path, {pages[4]}, axes("CYX", 4));
  CHECK(trouble_with(path, axes("TCYX")).find("the shape (6, 17, 23), which --axes TCYX") !=
        std::string::npos);
  CHECK(trouble_with(path, axes("TXY")).find("YX at the end") != std::string::npos);
  CHECK(trouble_with(path, axes("TYXS")).find("which --axes TYXS does not fit") !=
        std::string::npos);
  // tifffile describes an array, here of three times and two channels or the reverse.
  write_described(path, pages, R"({"shape": [3, 2, 17, 23]})");
  check_frames(path, {pages[1], pages[3], pages[5]}, axes("TCYX", 1));
  check_frames(path, {pages[2], pages[3]}, axes("CTYX", 1));
  check_frames(path, {pages[0], pages[2], pages[4]}, axes("TZYX", {}, 0));
  CHECK(trouble_with(path, axes("TYX")).find("(3, 2, 17, 23)") != std::string::npos);
  // Its letters count like those of --axes, which come before them.
  write_described(path, pages, R"({"shape": [3, 2, 17, 23], "axes": "TCYX"})");
  check_frames(path, {pages[1], pages[3], pages[5]}, {1, {}, {}});
  check_frames(path, {pages[2], pages[3]}, axes("CTYX", 1));
  write_described(path, pages, R"({"shape": [2, 3, 17, 23], "axes": "CTYX", "fps": 5})");
  check_frames(path, {pages[3], pages[4], pages[5]}, {1, {}, {}});
  for (const char* unknown : {"QQYX", "TYX", "YXTC", "TTYX", "TCYXS"}) {
    CAPTURE(unknown);
    write_described(path, pages,
                    fmt::format(R"({{"shape": [3, 2, 17, 23], "axes": "{}"}})", unknown));
    check_frames(path, pages, {});
  }
  // A description that does not fit the pages counts as none.
  write_described(path, pages, R"({"shape": [3, 3, 17, 23]})");
  check_frames(path, pages, axes("TYX"));
  // ImageJ's order is time, slice, channel; axes of 1 need no letter.
  write_described(path, pages, "ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\n");
  check_frames(path, {pages[1], pages[3], pages[5]}, axes("TCYX", 1));
  check_frames(path, {pages[1], pages[3], pages[5]}, axes("CTZYX", {}, 1));
  // OME's planes lie in the order of the description.
  write_described(path, pages,
                  "<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeX=\"23\" SizeY=\"17\" "
                  "SizeZ=\"3\" SizeC=\"2\" SizeT=\"1\"/></Image></OME>");
  check_frames(path, {pages[3], pages[4], pages[5]}, axes("CTYX", 1));
  const auto colour = numbered(3, PixelType::u8, 3);
  write_described(path, colour, "");
  check_frames(path, colour, axes("TYXS"));
  CHECK(trouble_with(path, axes("TYX")).find("YXS at the end") != std::string::npos);
}

TEST_CASE("axes: more channels than ImageJ has are frames") {
  const ScratchFolder folder;
  const std::string path = folder / "stack.tif";
  const auto pages = numbered(9);
  write_described(path, pages, "ImageJ=1.11a\nimages=9\nchannels=9\nhyperstack=true\n");
  check_frames(path, pages, {});
  check_frames(path, {pages[5]}, axes("CYX", 5));
  const auto seven = numbered(7);
  write_described(path, seven, "ImageJ=1.11a\nimages=7\nchannels=7\nhyperstack=true\n");
  check_frames(path, {seven[5]}, {5, {}, {}});
}

TEST_CASE("axes: a first page of another size is no frame") {
  const ScratchFolder folder;
  const std::string path = folder / "stack.tif";
  auto pages = numbered(5);
  const auto frames = pages;
  pages.insert(pages.begin(), numbered_frame(9, {8, 6, 1}, PixelType::u16));
  write_described(path, pages, "");
  check_frames(path, frames, {});
  // Neither is left out if the sizes do not tell which one is the frame.
  write_described(path, {pages[0], pages[1]}, "");
  check_frames(path, {pages[0], pages[1]}, {});
  write_described(path, {pages[0], pages[1], pages[0]}, "");
  check_frames(path, {pages[0], pages[1], pages[0]}, {});
}

TEST_CASE("axes: arrays of any order") {
  const ScratchFolder folder;
  const std::string path = folder / "array.npy";
  // One sample for each index (t, c, y, x), its value the index itself.
  constexpr std::size_t times = 2;
  constexpr std::size_t channels = 3;
  constexpr std::size_t height = 4;
  constexpr std::size_t width = 5;
  const auto value = [](std::size_t t, std::size_t c, std::size_t y, std::size_t x) {
    return static_cast<char>(((t * channels + c) * height + y) * width + x);
  };
  const auto plane = [&](std::size_t t, std::size_t c) {
    LoadedImage image = make_image(width, height, 1, PixelType::u8);
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        image.samples<std::uint8_t>()[y * width + x] = static_cast<std::uint8_t>(value(t, c, y, x));
      }
    }
    return image;
  };
  for (const bool fortran : {false, true}) {
    for (const std::string letters : {"TCYX", "YXTC", "CYTX", "XYCT"}) {
      CAPTURE(letters);
      CAPTURE(fortran);
      const auto extent = [&](char letter) {
        return letter == 'T' ? times : letter == 'C' ? channels : letter == 'Y' ? height : width;
      };
      std::string numbers;
      for (std::size_t i = 0; i < times * channels * height * width; ++i) {
        std::size_t rest = i;
        std::array<std::size_t, 128> at{};
        for (std::size_t k = 0; k < letters.size(); ++k) {
          const char letter = letters[fortran ? k : letters.size() - 1 - k];
          at[static_cast<std::size_t>(letter)] = rest % extent(letter);
          rest /= extent(letter);
        }
        numbers += value(at['T'], at['C'], at['Y'], at['X']);
      }
      write_raw_npy(
          path,
          fmt::format("{{'descr': '|u1', 'fortran_order': {}, 'shape': ({}, {}, {}, {}), }}",
                      fortran ? "True" : "False", extent(letters[0]), extent(letters[1]),
                      extent(letters[2]), extent(letters[3])),
          numbers);
      check_frames(path, {plane(0, 1), plane(1, 1)}, axes(letters, 1));
    }
  }
  CHECK(trouble_with(path, axes("TYX")).find("4 axes, but --axes TYX names 3") !=
        std::string::npos);
  CHECK(trouble_with(path, {}).find("name others with --axes") != std::string::npos);
  CHECK(trouble_with(path, axes("SYXT")).find("call another axis S") != std::string::npos);
}

}  // namespace
}  // namespace warpalign::test
