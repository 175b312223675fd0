// The sources of frames: each returns the frames of a file one by one, and reports what is wrong.
#include "io/byte_order.hpp"
#include "io/frames/frame_sequence.hpp"
#include "io/frames/input_files.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"
#include "support/skipped.hpp"

#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace warpalign::test {
namespace {

using namespace program;

constexpr Shape shape{23, 17, 1};
constexpr std::array real_types{PixelType::u8,  PixelType::i8,  PixelType::u16,
                                PixelType::i16, PixelType::u32, PixelType::i32,
                                PixelType::f16, PixelType::f32, PixelType::f64};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string without_end(const std::string& text) { return text.substr(0, text.size() - 1); }

std::vector<LoadedImage> numbered_frames(std::size_t count, PixelType type, int channels = 1) {
  std::vector<LoadedImage> frames;
  for (std::size_t i = 0; i < count; ++i) {
    frames.push_back(numbered_frame(i, shape, type, channels));
  }
  return frames;
}

/// Checks that the files hold exactly these frames, followed by this complaint.
void check_frames(const std::vector<std::string>& files, const std::vector<LoadedImage>& expected,
                  const PlaneChoice& choice = {}, const std::string& ended_early = "") {
  FrameSequence source(files, choice);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const std::optional<Frame> frame = source.next();
    REQUIRE(frame);
    CAPTURE(frame->name);
    REQUIRE(frame->trouble == "");
    CHECK(frame->image.shape() == expected[i].shape());
    CHECK(frame->image.type == expected[i].type);
    CHECK(frame->image.channels == expected[i].channels);
    CHECK(frame->image.pixels == expected[i].pixels);
  }
  CHECK_FALSE(source.next());
  CHECK(source.ended_early().empty() == ended_early.empty());
  CAPTURE(source.ended_early());
  CHECK(contains(source.ended_early(), ended_early));
}

/// The reason why the file's first frame cannot be read.
std::string trouble_with(const std::string& file, const PlaneChoice& choice = {}) {
  FrameSequence source({file}, choice);
  const std::optional<Frame> frame = source.next();
  REQUIRE(frame);
  CHECK(frame->trouble.starts_with(file + ": "));
  CHECK(frame->trouble.find('\n') == std::string::npos);
  return frame->trouble;
}

TEST_CASE("frames: TIFF pages of every type, compression and byte order, in strips and tiles") {
  const ScratchFolder folder;
  const std::string path = folder / "stack.tif";
  for (const PixelType type : real_types) {
    for (const char* mode : {"wl", "wb", "w8l", "w8b"}) {
      for (const int compression :
           {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
        CAPTURE(name_of(type));
        CAPTURE(mode);
        CAPTURE(compression);
        const auto frames = numbered_frames(3, type);
        write_tiff_stack(path, frames,
                         {mode, static_cast<std::uint16_t>(compression), compression % 2 == 0, {}});
        check_frames({path}, frames);
      }
    }
  }
  const auto colour = numbered_frames(3, PixelType::u8, 3);
  write_tiff_stack(path, colour);
  check_frames({path}, colour);
}

TEST_CASE("frames: names, numbers and counts") {
  const ScratchFolder folder;
  const auto frames = numbered_frames(3, PixelType::u8);
  write_tiff_stack(folder / "a.tif", frames);
  write_y4m(folder / "b.y4m", frames);
  save_image(folder / "c.png", frames[0]);
  FrameSequence source({folder / "a.tif", folder / "b.y4m", folder / "c.png"}, {});
  for (const char* name :
       {"a.tif[0]", "a.tif[1]", "a.tif[2]", "b.y4m[0]", "b.y4m[1]", "b.y4m[2]"}) {
    const auto frame = source.next();
    REQUIRE(frame);
    CHECK(frame->name == folder / name);
    CHECK(frame->stem == std::string(1, name[0]));
  }
  CHECK(source.next()->name == folder / "c.png");
  CHECK(source.count().frames == 7);
  FrameSequence pages({folder / "a.tif"}, {});
  CHECK(pages.skip());
  CHECK(pages.count().exact);
  CHECK(pages.count().frames == 3);
  CHECK(pages.next()->image.pixels == frames[1].pixels);
  CHECK(pages.skip());
  CHECK_FALSE(pages.skip());
  FrameSequence video({folder / "b.y4m"}, {});
  CHECK(video.skip());
  CHECK(video.next()->image.pixels == frames[1].pixels);
}

TEST_CASE("frames: ImageJ's channels, planes and frames") {
  const ScratchFolder folder;
  const std::string path = folder / "hyper.tif";
  const auto pages = numbered_frames(12, PixelType::u16);
  // Channels vary fastest, then planes: page = c + 2 (z + 3 t).
  write_tiff_stack(path, pages,
                   {"wb", COMPRESSION_NONE, false,
                    "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\n"});
  check_frames({path}, {pages[5], pages[11]}, {1, 2});
  check_frames({path}, {pages[2], pages[8]}, {0, 1});
  FrameSequence all({path}, {});
  for (std::size_t t = 0; t < 2; ++t) {
    const auto frame = all.next();
    REQUIRE(frame);
    CHECK(frame->image.pixels.empty());
    REQUIRE(frame->planes.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) CHECK(frame->planes[i].pixels == pages[6 * t + i].pixels);
  }
  CHECK_FALSE(all.next());
  REQUIRE(all.recording() != nullptr);
  CHECK(all.recording()->slices == 3);
  CHECK(all.recording()->channels == 2);
  FrameSequence channel({path}, {1, {}});
  CHECK(channel.next()->planes[1].pixels == pages[3].pixels);
  CHECK(contains(trouble_with(path, {2, 0}), "--channel can be 0 to 1"));
  CHECK(contains(trouble_with(path, {0, -1}), "--z can be 0 to 2"));
  // A single time point: ImageJ calls the frames of any stack slices.
  write_tiff_stack(path, pages,
                   {"w", COMPRESSION_NONE, false, "ImageJ=1.53t\nimages=12\nslices=12\n"});
  check_frames({path}, pages);
  CHECK(contains(trouble_with(path, {1, {}}), "--channel can only be 0"));
}

TEST_CASE("frames: ImageJ's frames with a single directory") {
  const ScratchFolder folder;
  const std::string path = folder / "contiguous.tif";
  const auto frames = numbered_frames(5, PixelType::u16);
  for (const bool big_endian : {false, true}) {
    std::vector<LoadedImage> stored = frames;
    for (LoadedImage& frame : stored) {
      if (big_endian) reverse_words(frame.pixels, 2);
    }
    const auto head = [&](std::size_t count) {
      return contiguous_head(shape, big_endian,
                             fmt::format("ImageJ=1.53t\nimages={0}\nframes={0}\n", count));
    };
    write_text(path, head(5) + bytes_of(stored));
    check_frames({path}, frames);
    write_text(path, head(5) + without_end(bytes_of(stored)));
    check_frames({path}, {frames.begin(), frames.end() - 1}, {}, "4 pages, and says that it has 5");
    // A sparse file with a hole of 4 GB and a frame after it.
    const std::uint64_t bytes = frames[0].pixels.size();
    const std::uint64_t far = (std::uint64_t{1} << 32U) / bytes + 10;
    write_text(path, head(far + 1));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + far * bytes);
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes_of({stored[3]});
    FrameSequence source({path}, {});
    std::uint64_t skipped = 0;
    while (skipped < far && source.skip()) ++skipped;
    REQUIRE(skipped == far);
    CHECK(source.next()->image.pixels == frames[3].pixels);
    CHECK_FALSE(source.skip());
    CHECK(source.ended_early().empty());
  }
}

std::string ome(const std::string& attributes, const std::string& inside) {
  return fmt::format(
      "<?xml version=\"1.0\"?><!-- <Pixels SizeC=\"9\"/> --><OME xmlns=\"http://x\"><Image "
      "Name=\"a &gt; b\"><Pixels {} SizeX=\"23\" SizeY=\"17\" Type=\"uint16\">{}</Pixels></Image>"
      "</OME>",
      attributes, inside);
}

TEST_CASE("frames: the axes of OME-TIFF") {
  const ScratchFolder folder;
  const std::string path = folder / "stack.ome.tif";
  const auto pages = numbered_frames(12, PixelType::u16);
  const auto write = [&](const std::string& description) {
    write_tiff_stack(path, pages, {"w", COMPRESSION_NONE, false, description});
  };
  const std::string sizes = "SizeZ=\"3\" SizeC=\"2\" SizeT=\"2\"";
  write(ome("DimensionOrder=\"XYZCT\" " + sizes, "<Channel/><TiffData/>"));
  check_frames({path}, {pages[2 + 3], pages[2 + 3 + 6]}, {1, 2});  // page = z + 3 (c + 2 t)
  write(ome("DimensionOrder=\"XYTZC\" " + sizes, ""));
  check_frames({path}, {pages[4 + 6], pages[5 + 6]}, {1, 2});  // page = t + 2 (z + 3 c)
  const std::string line = "DimensionOrder=\"XYCZT\" SizeZ=\"1\" SizeC=\"1\" SizeT=\"4\"";
  write(ome(line,
            "<TiffData IFD='7' FirstT='0'/><TiffData IFD='3' FirstT='1' PlaneCount='2'/>"
            "<TiffData IFD='0' FirstT='3'></TiffData>"));
  check_frames({path}, {pages[7], pages[3], pages[4], pages[0]});
  // Planes that are in another file are not read from this one.
  write(ome(line,
            "<TiffData IFD='1' FirstT='0' PlaneCount='2'><UUID FileName='stack.ome.tif'>u</UUID>"
            "</TiffData><TiffData IFD='0' FirstT='2' PlaneCount='2'><UUID FileName='b.tif'>v"
            "</UUID></TiffData>"));
  check_frames({path}, {pages[1], pages[2]});
  // A plane that no file has is one bad frame.
  write(ome(line, "<TiffData IFD='1' FirstT='0'/><TiffData IFD='2' FirstT='2' PlaneCount='2'/>"));
  FrameSequence source({path}, {});
  CHECK(source.next()->trouble.empty());
  CHECK(contains(source.next()->trouble, "stack.ome.tif[1]: is missing from the file"));
  CHECK(source.next()->image.pixels == pages[2].pixels);
  // In OME the colours of a page are channels; they cannot be selected.
  const auto colour = numbered_frames(2, PixelType::u8, 3);
  write_tiff_stack(path, colour,
                   {"w", COMPRESSION_NONE, false,
                    ome("DimensionOrder=\"XYCZT\" SizeZ=\"1\" SizeC=\"3\" SizeT=\"2\"", "")});
  check_frames({path}, colour);
  write(ome("DimensionOrder=\"XYCZT\" SizeZ=\"1\" SizeC=\"1\" SizeT=\"0\"", ""));
  CHECK(contains(trouble_with(path), "an invalid OME description"));
  write(ome("DimensionOrder=\"XYCZQ\"", ""));
  CHECK(contains(trouble_with(path), "an invalid OME description"));
  write("<OME><BinaryOnly MetadataFile=\"first.ome.tif\" UUID=\"u\"/></OME>");
  CHECK(contains(trouble_with(path), "its axes are described in first.ome.tif"));
}

/// The positions of the directories' offsets in a classic little-endian TIFF, including the end of
/// the chain.
std::vector<std::size_t> next_positions(const std::string& file) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= std::size_t{static_cast<unsigned char>(file[at + i])} << 8 * i;
    }
    return value;
  };
  std::vector<std::size_t> positions{4};
  for (std::size_t at = number(4, 4); at != 0; at = number(positions.back(), 4)) {
    positions.push_back(at + 2 + 12 * number(at, 2));
  }
  return positions;
}

TEST_CASE("frames: a TIFF's pages that form a loop are refused") {
  const ScratchFolder folder;
  const std::string path = folder / "loop.tif";
  write_tiff_stack(path, numbered_frames(4, PixelType::u8), {"wl", COMPRESSION_NONE, false, {}});
  std::string file = read_text(path);
  const auto positions = next_positions(file);
  REQUIRE(positions.size() == 5);
  file.replace(positions[4], 4, file.substr(positions[1], 4));
  write_text(path, file);
  CHECK(contains(trouble_with(path), "its pages form a loop: page 3 is followed by page 1"));
}

TEST_CASE("frames: the whole pages of a truncated TIFF are read") {
  const ScratchFolder folder;
  const std::string path = folder / "cut.tif";
  const auto frames = numbered_frames(4, PixelType::u16);
  write_tiff_stack(path, frames, {"wl", COMPRESSION_NONE, false, {}});
  const std::string file = read_text(path);
  // libtiff writes a page's directory after its pixels.
  const auto positions = next_positions(file);
  write_text(path, file.substr(0, positions[3] - 1));
  check_frames({path}, {frames[0], frames[1]}, {}, "cut.tif: is truncated: page 2");
  write_text(path, file.substr(0, 60));
  CHECK(contains(trouble_with(path), "its first page lies beyond its end"));
  write_text(path, file.substr(0, 6));
  CHECK(contains(trouble_with(path), "is damaged or truncated"));
}

TEST_CASE(
    "frames: pages that promise more than the file holds are refused before memory is taken") {
  const ScratchFolder folder;
  const std::string path = folder / "bomb.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 16384);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 16384);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 64);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
  std::vector<std::byte> row(16384 * 8);
  TIFFWriteScanline(tiff, row.data(), 0, 0);
  TIFFClose(tiff);
  CHECK(contains(trouble_with(path), "claims 16384 x 16384 pixels"));
  write_text(folder / "bomb.y4m", "YUV4MPEG2 W100000 H100000\nFRAME\nabc");
  CHECK(contains(trouble_with(folder / "bomb.y4m"), "the limit is 16384"));
  write_raw_npy(folder / "bomb.npy",
                "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 16384, 16384), }",
                "abc");
  CHECK(contains(trouble_with(folder / "bomb.npy"), "no frame of its shape"));
  write_raw_npy(
      folder / "bomb.npy",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (72057594037927935, 16384, 16384), }",
      "abc");
  CHECK(contains(trouble_with(folder / "bomb.npy"), "more bytes than any file has"));
}

TEST_CASE("frames: reduced images and masks of a TIFF are not frames") {
  const ScratchFolder folder;
  const std::string path = folder / "pyramid.tif";
  const auto frames = numbered_frames(3, PixelType::u8);
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  for (const LoadedImage& frame : frames) {
    for (const std::uint32_t kind : {0U, std::uint32_t{FILETYPE_REDUCEDIMAGE}}) {
      TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind);
      TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kind == 0 ? 23 : 4);
      TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, kind == 0 ? 17 : 4);
      TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
      TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
      for (std::uint32_t y = 0; y < (kind == 0 ? 17U : 4U); ++y) {
        std::vector<std::byte> row(23);
        std::copy_n(frame.pixels.begin() + 23 * y, 23, row.begin());
        TIFFWriteScanline(tiff, row.data(), y, 0);
      }
      TIFFWriteDirectory(tiff);
    }
  }
  TIFFClose(tiff);
  check_frames({path}, frames);
}

TEST_CASE("frames: damage to a TIFF never ends the program") {
  const ScratchFolder folder;
  const std::string path = folder / "damaged.tif";
  const std::string description =
      ome("DimensionOrder=\"XYCZT\" SizeZ=\"1\" SizeC=\"1\" SizeT=\"3\"", "<TiffData IFD='0'/>");
  std::mt19937 engine(3);
  for (const char* mode : {"wl", "w8b"}) {
    write_tiff_stack(path, numbered_frames(3, PixelType::u16),
                     {mode, COMPRESSION_LZW, false, description});
    const std::string file = read_text(path);
    for (int trial = 0; trial < 400; ++trial) {
      std::string damaged = file;
      for (int i = 0; i < 4; ++i) damaged[engine() % file.size()] = static_cast<char>(engine());
      write_text(path, damaged);
      FrameSequence source({path}, {});
      std::size_t frames = 0;
      while (frames < 20 && source.next()) ++frames;
      CHECK(frames <= 20);
    }
  }
}

/// The resident memory of this process, including mapped files.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("frames: the memory for small frames of a large .npy file does not grow") {
#if defined(__SANITIZE_ADDRESS__)
  return ::test::skip_case("AddressSanitizer keeps what is freed");
#endif
  const ScratchFolder folder;
  const std::string path = folder / "large.npy";
  constexpr std::size_t frames = 20000, frame_bytes = 64 * 64;
  write_raw_npy(path, "{'descr': '|u1', 'fortran_order': False, 'shape': (20000, 64, 64), }", "");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + frames * frame_bytes);
  FrameSequence source({path}, {});
  REQUIRE(source.next());
  const std::size_t before = resident_bytes();
  std::size_t most = before;
  for (std::size_t i = 1; i < frames; ++i) {
    REQUIRE(source.next());
    if (i % 500 == 0) most = std::max(most, resident_bytes());
  }
  // The file has 82 MB. The reader unmaps pages by the MiB, and the kernel may map 2 MiB at once.
  CHECK(most - before < (std::size_t{8} << 20));
}

TEST_CASE("frames: .npy stacks in either order of axes and bytes") {
  const ScratchFolder folder;
  const std::string path = folder / "stack.npy";
  for (const PixelType type : real_types) {
    CAPTURE(name_of(type));
    const auto frames = numbered_frames(4, type);
    const std::size_t bytes = size_of(type);
    const auto dictionary = [&](const char* order, bool fortran, const std::string& extents) {
      return fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}), }}",
                         bytes == 1 ? "|" : order, *name_of(type), bytes,
                         fortran ? "True" : "False", extents);
    };
    const std::string dense = bytes_of(frames);
    write_raw_npy(path, dictionary("<", false, "4, 17, 23"), dense);
    check_frames({path}, frames);
    std::vector<LoadedImage> reversed = frames;
    for (LoadedImage& frame : reversed) reverse_words(frame.pixels, bytes);
    write_raw_npy(path, dictionary(">", false, "4, 17, 23"), bytes_of(reversed));
    check_frames({path}, frames);
    std::string fortran;
    for (std::size_t x = 0; x < 23; ++x) {
      for (std::size_t y = 0; y < 17; ++y) {
        for (std::size_t f = 0; f < 4; ++f) {
          fortran += dense.substr(((f * 17 + y) * 23 + x) * bytes, bytes);
        }
      }
    }
    write_raw_npy(path, dictionary("<", true, "4, 17, 23"), fortran);
    check_frames({path}, frames);
    write_raw_npy(path, dictionary("<", true, "4, 17, 23"), without_end(fortran));
    CHECK(contains(trouble_with(path), "no frame of its shape (4, 17, 23) is whole"));
    write_raw_npy(path, dictionary("<", false, "4, 17, 23"), without_end(dense));
    check_frames({path}, {frames.begin(), frames.end() - 1}, {}, "of its 4 frames, 3 are whole");
    write_raw_npy(path, dictionary("<", false, "4, 17, 23"), dense + "x");
    CHECK(contains(trouble_with(path), "more than its shape"));
    write_raw_npy(path, dictionary("<", false, "68, 23"), dense);
    FrameSequence single({path}, {});
    CHECK(single.next()->name == path);
    CHECK_FALSE(single.next());
  }
  const auto colour = numbered_frames(2, PixelType::u16, 3);
  write_raw_npy(path, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 17, 23, 3), }",
                bytes_of(colour));
  check_frames({path}, colour);
  const auto wide = numbered_frames(2, PixelType::i32, 3);
  write_raw_npy(path, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 17, 23, 3), }",
                bytes_of(wide));
  check_frames({path}, wide);
  write_raw_npy(path, "{'descr': '<c8', 'fortran_order': False, 'shape': (2, 17, 23), }", "");
  CHECK(contains(trouble_with(path), "complex numbers"));
  write_raw_npy(path, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3, 17, 23), }", "");
  CHECK(contains(trouble_with(path), "the axes of a stack must be frame, row, column"));
  write_raw_npy(path, "{'descr': '<u2', 'fortran_order': False, 'shape': (0, 17, 23), }", "");
  CHECK(contains(trouble_with(path), "contains no frames"));
}

TEST_CASE("frames: .y4m of every colour sampling and depth gives the luminance") {
  const ScratchFolder folder;
  const std::string path = folder / "video.y4m";
  struct Kind {
    const char* sampling;
    std::size_t chroma;  ///< samples, of 23 x 17 pixels
    bool deep;
  };
  for (const Kind& kind :
       {Kind{"", 2 * 12 * 9, false}, Kind{" C420", 2 * 12 * 9, false},
        Kind{" C420jpeg", 2 * 12 * 9, false}, Kind{" C420mpeg2 XYSCSS=420MPEG2", 2 * 12 * 9, false},
        Kind{" C420paldv", 2 * 12 * 9, false}, Kind{" C422", 2 * 12 * 17, false},
        Kind{" C411", 2 * 6 * 17, false}, Kind{" C444", 2 * 23 * 17, false},
        Kind{" C444alpha", 3 * 23 * 17, false}, Kind{" Cmono", 0, false},
        Kind{" C420p10", 2 * 12 * 9, true}, Kind{" C422p12", 2 * 12 * 17, true},
        Kind{" C444p16", 2 * 23 * 17, true}, Kind{" Cmono9", 0, true}, Kind{" Cmono14", 0, true},
        Kind{" Cmono16", 0, true}}) {
    CAPTURE(kind.sampling);
    const auto frames = numbered_frames(3, kind.deep ? PixelType::u16 : PixelType::u8);
    const std::string chroma(kind.chroma * (kind.deep ? 2 : 1), 'c');
    std::string video = fmt::format("YUV4MPEG2 W23 H17 F30000:1001{}\n", kind.sampling);
    video += "FRAME\n" + bytes_of({frames[0]}) + chroma;
    video += "FRAME Ip XFOO\n" + bytes_of({frames[1]}) + chroma;
    video += "FRAME\n" + bytes_of({frames[2]}) + chroma;
    write_text(path, video);
    check_frames({path}, frames);
    write_text(path, video.substr(0, video.size() - 1));
    check_frames({path}, {frames[0], frames[1]}, {},
                 "video.y4m: is truncated: it ends within frame 2");
  }
  const auto frames = numbered_frames(2, PixelType::u8);
  write_text(path, "YUV4MPEG2 W23 H17 Cmono\nFRAME\n" + bytes_of({frames[0]}) + "FRIME\n" +
                       bytes_of({frames[1]}));
  check_frames({path}, {frames[0]}, {}, "frame 1 does not begin with the word FRAME");
  write_text(path, "YUV4MPEG2 W23 H17 C410\n");
  CHECK(contains(trouble_with(path), "colour sampling '410'"));
  write_text(path, "YUV4MPEG2 W23 H17 C420p11\n");
  CHECK(contains(trouble_with(path), "colour sampling '420p11'"));
  write_text(path, "YUV4MPEG2 W23x H17\n");
  CHECK(contains(trouble_with(path), "'W23x' in its first line"));
  write_text(path, "YUV4MPEG2 H17\n");
  CHECK(contains(trouble_with(path), "is 0 x 17 pixels"));
}

TEST_CASE("frames: a video is read from a pipe") {
  const ScratchFolder folder;
  const auto frames = numbered_frames(3, PixelType::u8);
  write_y4m(folder / "video.y4m", frames);
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { write_text(pipe, read_text(folder / "video.y4m")); });
  check_frames({pipe}, frames);
  writer.join();
}

TEST_CASE("frames: a bad file among others is one bad frame") {
  const ScratchFolder folder;
  const auto frames = numbered_frames(2, PixelType::u8);
  write_tiff_stack(folder / "a.tif", frames);
  write_text(folder / "b.png", "no image");
  save_image(folder / "c.png", frames[1]);
  FrameSequence source({folder / "a.tif", folder / "b.png", folder / "none.tif", folder / "c.png"},
                       {});
  CHECK(source.skip());
  CHECK(source.next()->image.pixels == frames[1].pixels);
  CHECK(contains(source.next()->trouble, "b.png: is not an image that can be read"));
  CHECK(contains(source.next()->trouble, "none.tif: cannot be read (No such file"));
  CHECK(source.next()->image.pixels == frames[1].pixels);
  CHECK_FALSE(source.next());
}

TEST_CASE("frames: folders and patterns in natural order") {
  const ScratchFolder folder;
  for (const char* name : {"f10.png", "f9.png", "f09.tif", "f1.png", "notes.txt", ".f2.png"}) {
    write_text(folder / name, "x");
  }
  std::filesystem::create_directory(folder / "f3.png");
  const auto named = [&](std::vector<std::string> names) {
    for (std::string& name : names) name = folder / name;
    return names;
  };
  const std::string all = folder / "";
  CHECK(input_files({all}) == named({"f1.png", "f9.png", "f09.tif", "f10.png"}));
  CHECK(input_files({folder / "f?.png"}) == named({"f1.png", "f3.png", "f9.png"}));
  CHECK(input_files({folder / "f10.png", folder / "f9.png", "-"}) ==
        std::vector<std::string>{folder / "f10.png", folder / "f9.png", "-"});
  CHECK_THROWS_WITH_AS((void)input_files({folder / "g*.png"}), doctest::Contains("no file matches"),
                       FileError);
  CHECK_THROWS_WITH_AS((void)input_files({folder / "f3.png"}),
                       doctest::Contains("is a folder without images"), FileError);
  write_text(folder / "a[1].png", "x");  // a name with characters that patterns use
  CHECK(input_files({folder / "a[1].png"}) == named({"a[1].png"}));
  CHECK(in_natural_order("a2b10", "a2b11"));
  CHECK(in_natural_order("a02", "a3"));
  CHECK_FALSE(in_natural_order("a10", "a9"));
}

}  // namespace
}  // namespace warpalign::test
