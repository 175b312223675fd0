// Files made to exhaust memory, time or the stack. The program must refuse each with a reason,
// before it costs much.
#include "bench/record.hpp"
#include "commands/journal_line.hpp"
#include "commands/journal_words.hpp"
#include "io/frames/frame_sequence.hpp"
#include "io/frames/tiff_axes.hpp"
#include "io/input_limits.hpp"
#include "io/npy.hpp"
#include "io/usage_error.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tiffio.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

#include <jpeglib.h>

namespace warpalign::test {
namespace {

using namespace program;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Outcome register_with_itself(const std::string& file) {
  return run_program({"register", file, file, "--device", test_device()});
}

/// Peak memory in kilobytes of the program when it refuses a file that promises nothing: its code,
/// its libraries, a device's driver, and under a sanitizer the shadow of all of these.
long peak_of_small_file() {
  const ScratchFolder folder;
  write_text(folder / "small.png", "no picture");
  const Outcome outcome = register_with_itself(folder / "small.png");
  CHECK(outcome.status == 2);
  return outcome.peak_kilobytes;
}

/// Checks that the program refuses the file with these words, without allocating memory for the
/// promised pixels.
void check_refused_cheaply(const std::string& file, const std::string& words) {
  CAPTURE(file);
  const Outcome outcome = register_with_itself(file);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, file + ": "));
  CHECK(contains(outcome.err, words));
  // The files promise 256 MB and more. A driver that is loaded or not, and a sanitizer's
  // quarantine, differ between two runs by some ten megabytes.
  static const long small = peak_of_small_file();
  CAPTURE(small);
  CHECK(outcome.peak_kilobytes < small + 100'000);
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

/// The checksum of a PNG chunk, as the specification defines it.
std::uint32_t crc(const std::string& bytes) {
  std::uint32_t value = ~0U;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) value = value >> 1U ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~value;
}

std::string chunk(const std::string& name, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + name + data +
         big_endian(crc(name + data));
}

/// A valid header with a few bytes of pixels.
std::string png_bomb(char bits, char colour) {
  const std::string header =
      big_endian(16384) + big_endian(16384) + bits + colour + '\0' + '\0' + '\0';
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", "few") + chunk("IEND", "");
}

TEST_CASE("hostile: a PNG that promises a gigabyte from a few bytes takes no memory") {
  const ScratchFolder folder;
  write_text(folder / "rgb16.png", png_bomb(16, 2));
  check_refused_cheaply(folder / "rgb16.png", "claims 16384 x 16384 pixels but has only");
  // Packed into bits, these pixels would take 32 MB in a decoder and 256 MB of memory.
  write_text(folder / "gray1.png", png_bomb(1, 0));
  check_refused_cheaply(folder / "gray1.png", "claims 16384 x 16384 pixels but has only");
}

TEST_CASE("hostile: a JPEG that promises a gigabyte from a few bytes takes no memory") {
  const ScratchFolder folder;
  const std::string file = folder / "bomb.jpg";
  save_image(file, draw({}, {64, 64, 1}, 3, PixelType::u8));
  std::string jpeg = read_text(file);
  const std::size_t frame = jpeg.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, std::string("\x40\0\x40\0", 4));
  write_text(file, jpeg);
  check_refused_cheaply(file, "claims 16384 x 16384 pixels but has only");
}

/// A page of 20 x 20 pixels in tiles of `side` x `side`, with only a few bytes of data.
void write_tile_bomb(const std::string& file, std::uint32_t side) {
  TIFF* tiff = TIFFOpen(file.c_str(), "w");
  REQUIRE(tiff != nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 20);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 20);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, side);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, side);
  std::string few = "few bytes";
  TIFFWriteRawTile(tiff, 0, few.data(), static_cast<tmsize_t>(few.size()));
  TIFFClose(tiff);
}

TEST_CASE("hostile: a small TIFF in huge tiles takes no memory") {
  const ScratchFolder folder;
  write_tile_bomb(folder / "bomb.tif", 16384);
  check_refused_cheaply(folder / "bomb.tif", "claims 20 x 20 pixels but has only 9 bytes");
}

/// A gray progressive JPEG: a scan for the first bit of each of `coefficients`, then one for the
/// last bit.
void write_scans(const std::string& file, int coefficients) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  FILE* stream = std::fopen(file.c_str(), "wb");
  REQUIRE(stream != nullptr);
  jpeg_stdio_dest(&jpeg, stream);
  jpeg.image_width = 32;
  jpeg.image_height = 32;
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  std::vector<jpeg_scan_info> scans{{1, {0}, 0, 0, 0, 1}, {1, {0}, 0, 0, 1, 0}};
  for (const int high : {0, 1}) {
    for (int k = 1; k <= coefficients; ++k) scans.push_back({1, {0}, k, k, high, 1 - high});
  }
  jpeg.scan_info = scans.data();
  jpeg.num_scans = static_cast<int>(scans.size());
  jpeg_start_compress(&jpeg, TRUE);
  const LoadedImage image = draw({}, {32, 32, 1}, 1, PixelType::u8);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(image.pixels.data())) +
                32 * jpeg.next_scanline;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(stream);
}

TEST_CASE("hostile: a JPEG of very many scans is given up") {
  const ScratchFolder folder;
  write_scans(folder / "many.jpg", 63);
  CHECK_THROWS_WITH_AS((void)load_image(folder / "many.jpg"),
                       doctest::Contains("it has more than 100 scans"), FileError);
  write_scans(folder / "some.jpg", 20);
  CHECK(load_image(folder / "some.jpg").width == 32);
}

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> 8 * i & 0xffU);
  return bytes;
}

std::string trouble_with(const std::string& file) {
  FrameSequence source({file}, {});
  const auto frame = source.next();
  return frame ? frame->trouble : source.ended_early();
}

// Each directory begins 8 bytes after the previous one and is 400 kB long: a file of half a
// megabyte would cause reads of 8 GB.
TEST_CASE("hostile: TIFF directories that lie over one another are not read again and again") {
  constexpr std::uint64_t pages = 20'000;
  constexpr std::uint64_t entries = 20'000;
  constexpr std::uint64_t first = 16;
  std::string file = std::string("II+\0\x08\0\0\0", 8) + little_endian(first);
  for (std::uint64_t i = 0; i < pages; ++i) file += little_endian(entries);
  file.resize(first + 8 + 20 * entries);
  for (std::uint64_t i = 1; i <= pages; ++i) file += little_endian(i < pages ? first + 8 * i : 0);
  const ScratchFolder folder;
  write_text(folder / "over.tif", file);
  CHECK(contains(trouble_with(folder / "over.tif"), "overlap"));
}

TEST_CASE("hostile: an OME description that fills a large table again and again is refused") {
  std::string xml = "<OME><Image><Pixels SizeT='1048576'>";
  for (int i = 0; i < 100'000; ++i) xml += "<TiffData PlaneCount='1048576' IFD='0'/>";
  xml += "</Pixels></Image></OME>";
  CHECK_THROWS_WITH_AS((void)read_tiff_axes(xml, 4, 1, "in.ome.tif"),
                       doctest::Contains("more than 2^24 planes"), FileError);
}

TEST_CASE("hostile: a few bytes of text cannot stand for millions of frames") {
  const std::string ome = "<OME><Image><Pixels SizeT='16000000'/></Image></OME>";
  CHECK_THROWS_WITH_AS((void)read_tiff_axes(ome, 1, 1, "in.ome.tif"),
                       doctest::Contains("claims 16000000 planes"), FileError);
  const std::string imagej = "ImageJ=1\nimages=16000000\nframes=16000000\n";
  CHECK_THROWS_WITH_AS((void)read_tiff_axes(imagej, 1, 1, "in.tif"),
                       doctest::Contains("says that it has 16000000 images"), FileError);
  // A long recording that was cut off, one plane of a large set, and frames that share one
  // directory.
  CHECK(read_tiff_axes("<OME><Pixels SizeT='60000'/></OME>", 1, 1, "in.ome.tif").frames == 60'000);
  CHECK(read_tiff_axes("ImageJ=1\nimages=200000\n", 1, 1, "in.tif", 200'000).contiguous == 200'000);
}

TEST_CASE("hostile: a bench record that is nested very deeply does not exhaust the stack") {
  const ScratchFolder folder;
  constexpr std::size_t depth = 200'000;
  write_text(folder / "deep.json", R"({"schema": "warpalign-bench", "version": )" +
                                       std::string(depth, '[') + std::string(depth, ']') + "}");
  CHECK_THROWS_WITH_AS((void)bench::read_record("--baseline", folder / "deep.json"),
                       doctest::Contains("is damaged: it is nested"), UsageError);
}

TEST_CASE("hostile: a line of a journal with words in place of numbers is invalid") {
  StackFrame frame;
  frame.file = "f.tif";
  frame.place.reference = 0;
  frame.place.spread = 1;
  const std::string line = journal_line(frame);
  REQUIRE(parse_journal_line(line));
  std::string other = line;
  REQUIRE(other.find(" - 0 ") != std::string::npos);
  other.replace(other.find(" - 0 "), 5, " - x ");
  CHECK_FALSE(parse_journal_line(other));
  CHECK_FALSE(parse_journal_line(line.substr(0, line.rfind(' ')) + " wide"));
}

TEST_CASE("hostile: an array that another program shortens while it is read gives an error") {
  const ScratchFolder folder;
  const std::vector<LoadedImage> frames(3, numbered_frame(1, {12, 10, 1}, PixelType::u8));
  for (const std::string order : {"False", "True"}) {
    CAPTURE(order);
    const std::string file = folder / "stack.npy";
    write_raw_npy(file, "{'descr': '|u1', 'fortran_order': " + order + ", 'shape': (3, 10, 12), }",
                  bytes_of(frames));
    FrameSequence source({file}, {});
    REQUIRE(source.next());
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 200);
    CHECK_THROWS_WITH_AS((void)source.next(),
                         doctest::Contains("stack.npy: was shortened while it was being read"),
                         FileError);
  }
}

/// Sets --max-pixels for the lifetime of this object.
class Limit {
 public:
  explicit Limit(std::int64_t pixels) { set_max_pixels(pixels); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { set_max_pixels(std::numeric_limits<std::int64_t>::max()); }
};

TEST_CASE("--max-pixels is exact for each format") {
  const ScratchFolder folder;
  const LoadedImage image = draw({}, {12, 10, 1}, 3, PixelType::u8);
  for (const std::string extension : {".png", ".jpg", ".tif", ".ppm"}) {
    CAPTURE(extension);
    const std::string file = folder / ("image" + extension);
    save_image(file, image);
    {
      const Limit limit(120);
      CHECK(load_image(file).width == 12);
    }
    const Limit limit(119);
    CHECK_THROWS_WITH_AS((void)load_image(file), doctest::Contains("--max-pixels 119"), FileError);
  }
}

TEST_CASE("--max-pixels limits the frames of stacks and the numbers of arrays") {
  const ScratchFolder folder;
  const std::vector<LoadedImage> frames(3, numbered_frame(1, {12, 10, 1}, PixelType::u8));
  write_tiff_stack(folder / "stack.tif", frames);
  write_y4m(folder / "video.y4m", frames);
  write_raw_npy(folder / "stack.npy",
                "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 10, 12), }",
                bytes_of(frames));
  for (const std::string name : {"stack.tif", "video.y4m", "stack.npy"}) {
    CAPTURE(name);
    {
      const Limit limit(120);
      CHECK(trouble_with(folder / name).empty());
    }
    const Limit limit(119);
    CHECK(contains(trouble_with(folder / name), "--max-pixels 119"));
  }
  {
    const Limit limit(360);
    CHECK(load_npy(folder / "stack.npy").bytes.size() == 360);
  }
  const Limit limit(359);
  CHECK_THROWS_WITH_AS((void)load_npy(folder / "stack.npy"),
                       doctest::Contains("has 360 numbers, more than --max-pixels 359"), FileError);
}

TEST_CASE("--max-pixels is an option of every command that reads images") {
  const ScratchFolder folder;
  const std::string image = folder / "image.png";
  const std::string array = folder / "array.npy";
  save_image(image, draw({}, {64, 64, 1}, 1, PixelType::u8));
  write_raw_npy(array, "{'descr': '|u1', 'fortran_order': False, 'shape': (16, 16, 16), }",
                std::string(16 * 16 * 16, 'x'));
  const std::vector<std::vector<std::string>> commands{
      {"register", image, image},
      {"register-volume", array, array},
      {"template", image, image, "--output", folder / "mean.tif"},
      {"template", array, array, "--output", folder / "mean.npy"},
      {"stack", image, image, "--csv", folder / "drift.csv"},
      {"resample", image, folder / "out.png", "--zoom", "2"},
      {"prefilter", array, folder / "out.npy"}};
  for (std::vector<std::string> command : commands) {
    CAPTURE(command.front());
    command.insert(command.end(), {"--max-pixels", "4095"});
    const Outcome outcome = run_program(command);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "--max-pixels 4095 allows"));
  }
  for (const std::string wrong : {"0", "-1", "many", "1e3", "99999999999999999999"}) {
    CAPTURE(wrong);
    const Outcome outcome = run_program({"register", image, image, "--max-pixels", wrong});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "--max-pixels"));
    CHECK_FALSE(contains(outcome.err, "allows"));
  }
}

}  // namespace
}  // namespace warpalign::test
