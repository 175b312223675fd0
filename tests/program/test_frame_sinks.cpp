// The sinks of frames: libtiff, the array reader and the sources read back what the sinks wrote.
#include "io/frames/folder_sink.hpp"
#include "io/frames/frame_sequence.hpp"
#include "io/frames/npy_sink.hpp"
#include "io/frames/tiff_sink.hpp"
#include "io/frames/video_sink.hpp"
#include "io/npy.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <tiffio.h>

#include <doctest/doctest.h>

#include <array>
#include <filesystem>

namespace warpalign::test {
namespace {

using namespace program;

constexpr Shape shape{23, 17, 1};

void write_all(FrameSink& sink, const std::vector<LoadedImage>& frames, std::size_t from = 0) {
  for (std::size_t i = from; i < frames.size(); ++i) sink.write(i, "f", {&frames[i], 1});
}

std::vector<LoadedImage> numbered_frames(std::size_t count, PixelType type, int channels = 1) {
  std::vector<LoadedImage> frames;
  for (std::size_t i = 0; i < count; ++i) {
    frames.push_back(numbered_frame(i, shape, type, channels));
  }
  return frames;
}

void check_reads_back(const std::string& path, const std::vector<LoadedImage>& frames) {
  FrameSequence source({path}, {});
  for (const LoadedImage& expected : frames) {
    const auto frame = source.next();
    REQUIRE(frame);
    REQUIRE(frame->trouble == "");
    CHECK(frame->image.type == expected.type);
    CHECK(frame->image.channels == expected.channels);
    CHECK(frame->image.pixels == expected.pixels);
  }
  CHECK_FALSE(source.next());
  CHECK(source.ended_early() == "");
}

TEST_CASE("sinks: one TIFF of every type, as libtiff reads it") {
  const ScratchFolder folder;
  const std::string path = folder / "out.tif";
  for (const PixelType type :
       {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32,
        PixelType::i32, PixelType::f16, PixelType::f32, PixelType::f64}) {
    for (const int channels : {1, 3}) {
      if (channels == 3 && type != PixelType::u8 && type != PixelType::u16) continue;
      for (const bool counted : {true, false}) {
        CAPTURE(name_of(type));
        CAPTURE(counted);
        const auto frames = numbered_frames(3, type, channels);
        {
          std::optional<std::size_t> count;
          if (counted) count = frames.size();
          TiffSink sink(path, frames[0], count, std::nullopt);
          write_all(sink, frames);
          sink.commit();
        }
        check_reads_back(path, frames);
        TIFF* tiff = TIFFOpen(path.c_str(), "r");
        REQUIRE(tiff != nullptr);
        CHECK((TIFFIsBigTIFF(tiff) != 0) == !counted);
        CHECK(TIFFNumberOfDirectories(tiff) == 3);
        for (const LoadedImage& frame : frames) {
          std::uint16_t bits = 0;
          std::uint16_t samples = 0;
          TIFFGetField(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
          TIFFGetField(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
          CHECK(bits == 8 * size_of(type));
          CHECK(samples == channels);
          std::vector<std::byte> pixels(frame.pixels.size());
          CHECK(TIFFReadEncodedStrip(tiff, 0, pixels.data(), -1) ==
                static_cast<tmsize_t>(pixels.size()));
          CHECK(pixels == frame.pixels);
          TIFFReadDirectory(tiff);
        }
        TIFFClose(tiff);
      }
    }
  }
}

TEST_CASE("sinks: BigTIFF above 4 GB, and more pages than 16 bits can count") {
  const ScratchFolder folder;
  const LoadedImage large = make_image(2048, 1024, 1, PixelType::u16);
  const auto is_big = [&](std::size_t count) {
    { const TiffSink sink(folder / "out.tif", large, count, std::size_t{0}); }
    return read_text(folder / "out.tif.partial")[2] == '+';
  };
  CHECK_FALSE(is_big(1023));  // 4 MiB each, and 160 bytes
  CHECK(is_big(1024));
  const std::string path = folder / "many.tif";
  const LoadedImage small = numbered_frame(1, {1, 1, 1}, PixelType::u8);
  constexpr std::size_t pages = 70000;
  TiffSink sink(path, small, pages, std::nullopt);
  for (std::size_t i = 0; i < pages; ++i) sink.write(i, "f", {&small, 1});
  sink.commit();
  FrameSequence source({path}, {});
  std::size_t found = 0;
  while (source.skip()) ++found;
  CHECK(found == pages);
}

TEST_CASE("sinks: one array, one video") {
  const ScratchFolder folder;
  for (const PixelType type : {PixelType::u8, PixelType::i16, PixelType::f64}) {
    const auto frames = numbered_frames(3, type);
    NpySink sink(folder / "out.npy", frames[0], std::nullopt);
    write_all(sink, frames);
    sink.commit();
    const Array array = load_npy(folder / "out.npy");
    CHECK(array.extents == std::vector<std::int64_t>{3, 17, 23});
    CHECK(array.type == type);
    const std::string bytes = bytes_of(frames);
    CHECK(bytes == std::string(reinterpret_cast<const char*>(array.bytes.data()), bytes.size()));
  }
  const auto frames = numbered_frames(3, PixelType::u8);
  const VideoFormat format{"30000:1001", "p", "1:1", "LIMITED", 8};
  VideoSink sink(folder / "out.y4m", frames[0], &format, std::nullopt);
  write_all(sink, frames);
  sink.commit();
  CHECK(
      read_text(folder / "out.y4m")
          .starts_with("YUV4MPEG2 W23 H17 F30000:1001 Ip A1:1 Cmono XCOLORRANGE=LIMITED\nFRAME\n"));
  check_reads_back(folder / "out.y4m", frames);
  // Splines overshoot the range of 10 bits.
  LoadedImage bright = make_image(23, 17, 1, PixelType::u16);
  bright.samples<std::uint16_t>()[5] = 1050;
  const VideoFormat ten{"25:1", "", "", "", 10};
  VideoSink deep(folder / "deep.y4m", bright, &ten, std::nullopt);
  deep.write(0, "f", {&bright, 1});
  deep.commit();
  FrameSequence source({folder / "deep.y4m"}, {});
  CHECK(source.next()->image.samples<std::uint16_t>()[5] == 1023);
  CHECK_THROWS_WITH_AS(check_video_frames(make_image(23, 17, 3, PixelType::u8)),
                       doctest::Contains("writes gray frames of 8 or 16 bits"), FileError);
}

TEST_CASE("sinks: frames that could not be aligned") {
  const ScratchFolder folder;
  const auto frames = numbered_frames(3, PixelType::u8);
  const LoadedImage black = make_image(23, 17, 1, PixelType::u8);
  const auto write = [&](FrameSink& sink) {
    sink.write(0, "f", {&frames[0], 1});
    sink.write(1, "f", {});
    sink.write(2, "f", {&frames[2], 1});
    sink.commit();
  };
  FolderSink images(folder / "images", 3, PixelType::u8);
  TiffSink pages(folder / "out.tif", frames[0], 3, std::nullopt);
  NpySink array(folder / "out.npy", frames[0], std::nullopt);
  VideoSink video(folder / "out.y4m", frames[0], nullptr, std::nullopt);
  write(images);
  write(pages);
  write(array);
  write(video);
  CHECK(std::filesystem::exists(folder / "images/0000_f.png"));
  CHECK_FALSE(std::filesystem::exists(folder / "images/0001_f.png"));
  CHECK(std::filesystem::exists(folder / "images/0002_f.png"));
  check_reads_back(folder / "out.tif", {frames[0], black, frames[2]});
  check_reads_back(folder / "out.npy", {frames[0], black, frames[2]});
  check_reads_back(folder / "out.y4m", {frames[0], frames[0], frames[2]});
}

TEST_CASE("sinks: the output appears at the end, and a sink resumes an earlier run") {
  const ScratchFolder folder;
  const auto frames = numbered_frames(6, PixelType::u16);
  const auto open = [&](const std::string& name, std::optional<std::size_t> kept) {
    std::unique_ptr<FrameSink> sink;
    if (name == "out.tif") sink = std::make_unique<TiffSink>(folder / name, frames[0], 6, kept);
    if (name == "out.npy") sink = std::make_unique<NpySink>(folder / name, frames[0], kept);
    if (name == "out.y4m") {
      sink = std::make_unique<VideoSink>(folder / name, frames[0], nullptr, kept);
    }
    return sink;
  };
  for (const std::string name : {"out.tif", "out.npy", "out.y4m"}) {
    CAPTURE(name);
    {
      const auto sink = open(name, std::nullopt);
      write_all(*sink, frames);
    }
    CHECK(folder.names().empty());
    {
      const auto sink = open(name, 0);
      for (std::size_t i = 0; i < 5; ++i) sink->write(i, "f", {&frames[i], 1});
    }
    CHECK(folder.names() == std::vector<std::string>{name + ".partial"});
    const std::string partial = folder / (name + ".partial");
    // The journal has three of five frames; two of these three are whole in the file.
    const std::size_t record = (std::filesystem::file_size(partial) - 16) / 5;
    std::filesystem::resize_file(partial, 200 + 2 * record + 100);
    {
      const auto sink = open(name, 3);
      CHECK_FALSE(sink->lacks(1, "f"));
      CHECK(sink->lacks(2, "f"));
      LoadedImage dark = make_image(23, 17, 1, PixelType::u16);
      // A video repeats the frame before one that was not aligned.
      sink->write(2, "f", {&dark, name == "out.y4m" ? std::size_t{0} : 1});
    }
    {
      const auto sink = open(name, 2);
      CHECK(sink->lacks(2, "f"));
      write_all(*sink, frames, 2);
      sink->commit();
    }
    check_reads_back(folder / name, frames);
    CHECK(folder.names() == std::vector<std::string>{name});
    std::filesystem::remove(folder / name);
  }
}

}  // namespace
}  // namespace warpalign::test
