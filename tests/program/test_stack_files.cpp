// `warpalign stack` on stacks and videos: the result does not depend on the container. Also bad
// files, pipes and full disks.
#include "io/frames/frame_sequence.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"
#include "support/skipped.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{96, 80, 1};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<LoadedImage> drifting(std::size_t count, PixelType type, int channels = 1) {
  std::vector<LoadedImage> frames;
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i);
    frames.push_back(draw({}, shape, channels, type, Affine::translation(-1.5 * t, 0.5 * t)));
  }
  return frames;
}

Outcome run_stack(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"stack", "--device", test_device(), "--motion", "translation"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(all);
}

/// The command line of run_stack(), for use in a script.
std::string script(const std::string& arguments) {
  return "\"$W\" stack --device " + test_device() + " --motion translation " + arguments;
}

/// A report's frames without the fields that depend on file names.
json numbers_of(const std::string& report) {
  json frames = json::parse(read_text(report))["frames"];
  for (json& frame : frames) {
    frame.erase("file");
    frame.erase("aligned");
  }
  return frames;
}

std::vector<LoadedImage> frames_in(const std::string& path) {
  FrameSequence source({path}, {});
  std::vector<LoadedImage> frames;
  while (auto frame = source.next()) frames.push_back(std::move(frame->image));
  return frames;
}

TEST_CASE("stack: images, pages, arrays and videos of the same frames give the same result") {
  require_test_device();
  const ScratchFolder folder;
  const auto frames = drifting(4, PixelType::u8);
  std::filesystem::create_directory(folder / "images");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    save_image(folder / fmt::format("images/f{}.png", i + 8), frames[i]);
  }
  write_tiff_stack(folder / "pages.tif", frames);
  write_raw_npy(folder / "array.npy",
                "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 80, 96), }",
                bytes_of(frames));
  write_y4m(folder / "video.y4m", frames);
  json expected;
  for (const std::string name : {"images", "pages.tif", "array.npy", "video.y4m"}) {
    CAPTURE(name);
    const Outcome outcome = run_stack(
        {folder / name, "--json", folder / "drift.json", "--output", folder / "out.tif",
         "--output-folder", folder / ("aligned-" + name), "--output-video", folder / "out.y4m"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json found = numbers_of(folder / "drift.json");
    REQUIRE(found.size() == 4);
    if (expected.is_null()) expected = found;
    CHECK(found == expected);
    CHECK(std::abs(found[3]["translation"][0].get<double>() - 4.5) < 0.02);
    CHECK(std::abs(found[3]["translation"][1].get<double>() + 1.5) < 0.02);
    // All outputs hold the same pixels.
    const auto pages = frames_in(folder / "out.tif");
    const auto video = frames_in(folder / "out.y4m");
    const auto images = frames_in(folder / ("aligned-" + name));
    REQUIRE(pages.size() == 4);
    REQUIRE(video.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string stem = name == "images" ? fmt::format("f{}", i + 8)
                                                : std::filesystem::path(name).stem().string();
      const auto image = load_image(folder / fmt::format("aligned-{}/{:04}_{}.png", name, i, stem));
      CHECK(pages[i].pixels == image.pixels);
      CHECK(video[i].pixels == image.pixels);
    }
    CHECK(pages[0].pixels == frames[0].pixels);
  }
  const json report = json::parse(read_text(folder / "drift.json"));
  CHECK(report["frames"][2]["file"] == folder / "video.y4m[2]");
  CHECK(report["frames"][2]["aligned"] == "0002_video.png");
  CHECK(report["ended_early"].is_null());
}

TEST_CASE("stack: every pixel type is registered and written in its own type") {
  require_test_device();
  const ScratchFolder folder;
  const auto wide = drifting(3, PixelType::f32);
  for (const std::string type : {"i1", "i2", "i4", "u4", "f2", "f4", "f8"}) {
    CAPTURE(type);
    // A value as a fraction of the type's largest one; i1 has 7 bits.
    std::string numbers;
    for (const LoadedImage& frame : wide) {
      for (const float value : frame.samples<float>()) {
        const auto put = [&](auto number) {
          numbers.append(reinterpret_cast<const char*>(&number), sizeof(number));
        };
        const double v = static_cast<double>(value);
        if (type == "i1") put(static_cast<std::int8_t>(v * 250 - 125));
        if (type == "i2") put(static_cast<std::int16_t>(v * 65000 - 32500));
        if (type == "i4") put(static_cast<std::int32_t>(v * 4e9 - 2e9));
        if (type == "u4") put(static_cast<std::uint32_t>(v * 4e9));
        // A half with 1024 steps between 1 and 2.
        if (type == "f2") put(static_cast<std::uint16_t>(0x3c00 + static_cast<int>(v * 1023)));
        if (type == "f4") put(value);
        if (type == "f8") put(v);
      }
    }
    write_raw_npy(folder / "in.npy",
                  fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (3, 80, 96), }}",
                              type == "i1" ? "|" : "<", type),
                  numbers);
    for (const std::string to : {"first", "mean"}) {
      const Outcome outcome =
          run_stack({folder / "in.npy", "--to", to, "--json", folder / "drift.json", "--output",
                     folder / "out.npy", "--output-folder", folder / ("aligned" + type)});
      CAPTURE(outcome.err);
      REQUIRE(outcome.status == 0);
      const json frame = numbers_of(folder / "drift.json")[2];
      CHECK(std::abs(frame["translation"][0].get<double>() - 3) < 0.05);
      CHECK(std::abs(frame["translation"][1].get<double>() + 1) < 0.05);
    }
    const auto in = frames_in(folder / "in.npy");
    const auto out = frames_in(folder / "out.npy");
    REQUIRE(out.size() == 3);
    CHECK(out[0].type == in[0].type);
    CHECK(out[0].pixels == in[0].pixels);
    FrameSequence images({folder / ("aligned" + type + "/0002_in.tif")}, {});
    const auto image = images.next();
    REQUIRE(image);
    CHECK(image->image.pixels == out[2].pixels);
  }
}

TEST_CASE("stack: a frame of another size or type is named, and the others are registered") {
  require_test_device();
  const ScratchFolder folder;
  auto frames = drifting(5, PixelType::u8);
  frames[1] = draw({}, {64, 64, 1}, 1, PixelType::u8);
  frames[3] = draw({}, shape, 1, PixelType::u16);
  write_tiff_stack(folder / "mixed.tif", frames);
  const Outcome outcome = run_stack(
      {folder / "mixed.tif", "--json", folder / "drift.json", "--output", folder / "out.tif"});
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "warpalign: frame 1: "));
  CHECK(contains(outcome.err, "mixed.tif: is 64 x 64, but the first frame is 96 x 80\n"));
  CHECK(contains(outcome.err,
                 "mixed.tif: is 96 x 80, gray, 16 bit, but the first frame is 96 x "
                 "80, gray, 8 bit\n"));
  const json report = json::parse(read_text(folder / "drift.json"));
  CHECK(report["ok"] == 3);
  CHECK(report["failed"] == 2);
  CHECK(report["frames"][2]["aligned"] == folder / "out.tif[2]");
  const auto out = frames_in(folder / "out.tif");
  REQUIRE(out.size() == 5);
  CHECK(std::all_of(out[3].pixels.begin(), out[3].pixels.end(),
                    [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("stack: the whole frames of a truncated file are registered, and the rest is reported") {
  require_test_device();
  const ScratchFolder folder;
  const auto frames = drifting(5, PixelType::u8);
  write_tiff_stack(folder / "all.tif", frames);
  write_raw_npy(folder / "all.npy",
                "{'descr': '|u1', 'fortran_order': False, 'shape': (5, 80, 96), }",
                bytes_of(frames));
  write_y4m(folder / "all.y4m", frames);
  for (const std::string kind : {"tif", "npy", "y4m"}) {
    CAPTURE(kind);
    const std::string cut = folder / ("cut." + kind);
    truncate_copy(folder / ("all." + kind), cut, 0.7);
    const Outcome outcome =
        run_stack({cut, "--json", folder / "drift.json", "--output", folder / "out.npy"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.starts_with("warpalign: " + cut + ": is truncated: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(contains(outcome.out, "cut short"));
    const json report = json::parse(read_text(folder / "drift.json"));
    CHECK(report["ok"] == 3);
    CHECK(contains(report["ended_early"].get<std::string>(), "is truncated"));
    CHECK(frames_in(folder / "out.npy").size() == 3);
    truncate_copy(folder / ("all." + kind), cut, 0.3);
    const Outcome one = run_stack({cut});
    CHECK(one.status == 2);
    CHECK(one.out.empty());
    CHECK(one.err.starts_with("warpalign: " + cut + ": is truncated"));
    CHECK(one.err.ends_with("; only one frame is left, and a stack needs two\n"));
    CHECK(one.err.find(cut) == one.err.rfind(cut));
  }
}

TEST_CASE("stack --apply: a CSV file without one of its columns is refused by name") {
  const ScratchFolder folder;
  write_tiff_stack(folder / "in.tif", drifting(3, PixelType::u8));
  REQUIRE(run_stack({folder / "in.tif", "--csv", folder / "drift.csv"}).status == 0);
  const std::string whole = read_text(folder / "drift.csv");
  for (const std::string column : {"reliable", "scale", "overlap"}) {
    CAPTURE(column);
    std::string damaged = whole;
    damaged.replace(damaged.find("," + column + ",") + 1, column.size(), "other");
    write_text(folder / "damaged.csv", damaged);
    const Outcome outcome = run_program({"stack", folder / "in.tif", "--apply",
                                         folder / "damaged.csv", "--output", folder / "out.tif"});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "damaged.csv: has no column '" + column + "'"));
    CHECK(!std::filesystem::exists(folder / "out.tif"));
  }
}

TEST_CASE(
    "stack: files that are not stacks are refused before a device opens, and nothing is written") {
  const ScratchFolder folder;
  const auto frames = drifting(2, PixelType::u8);
  write_tiff_stack(folder / "one.tif", {frames[0]});
  write_tiff_stack(folder / "two.tif", frames);
  write_tiff_stack(folder / "colour.tif", drifting(2, PixelType::u8, 3));
  write_tiff_stack(folder / "small.tif", {numbered_frame(0, {15, 40, 1}, PixelType::u8)});
  write_text(folder / "empty.y4m", "YUV4MPEG2 W96 H80\n");
  write_text(folder / "none.npy", "");
  const auto before = folder.names();
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& named) {
    std::vector<std::string> all{"stack", "--device", "opencl:99"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_program(all);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(contains(outcome.err, named));
    CHECK(folder.names() == before);
  };
  refused({folder / "one.tif"}, "one.tif: is a single frame; a stack needs two or more");
  refused({folder / "small.tif"}, "registration needs sides of at least 16");
  refused({folder / "empty.y4m"}, "empty.y4m: contains no frames");
  refused({folder / "none.npy"}, "none.npy: is empty");
  refused({folder / "x*.tif"}, "no file matches this pattern");
  refused({folder / "two.tif", "--channel", "1"}, "--channel can only be 0");
  refused({folder / "two.tif", "--z", "1"}, "--z can only be 0");
  refused({folder / "empty.y4m", "--z", "1", "--only-z"}, "omit --channel and --z");
  refused({folder / "two.tif", "--output", folder / "out.png"}, "a stack must be .tif or .npy");
  refused({folder / "two.tif", "--output-video", folder / "out.mp4"},
          "use a name that ends in .y4m");
  refused({folder / "two.tif", "--output", folder / "two.tif"}, "is the same file as");
  refused({folder / "two.tif", "--output", folder / "no/out.tif"}, "no/out.tif: cannot be written");
  refused({folder / "colour.tif", "--output-video", folder / "out.y4m"},
          "writes gray frames of 8 or 16 bits");
}

TEST_CASE("stack: from a pipe into a pipe") {
  require_test_device();
  const ScratchFolder folder;
  const auto frames = drifting(4, PixelType::u8);
  write_y4m(folder / "in.y4m", frames);
  const Outcome outcome = run_script(fmt::format(
      "cat {} | {} > {}", folder / "in.y4m",
      script("- --output-video - --csv " + (folder / "drift.csv")), folder / "out.y4m"));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "4 ok"));  // the text report goes to stderr
  CHECK(contains(read_text(folder / "drift.csv"), "\n3,standard input[3],ok,"));
  const auto out = frames_in(folder / "out.y4m");
  REQUIRE(out.size() == 4);
  CHECK(out[0].pixels == frames[0].pixels);
  CHECK(read_text(folder / "out.y4m").starts_with("YUV4MPEG2 W96 H80 F25:1 Ip A1:1 Cmono\n"));
  // No process reads the pipe. The shell returns the status of the last process, so the script
  // records the program's status.
  const Outcome broken = run_script(
      fmt::format("{{ {}; echo $? > {}; }} | head -c 100 > /dev/null",
                  script((folder / "in.y4m") + " --output-video - --csv " + (folder / "b.csv")),
                  folder / "status"));
  CHECK(read_text(folder / "status") == "2\n");
  CHECK(contains(broken.err,
                 "warpalign: --output-video -: the program that reads the video has ended\n"));
  CHECK_FALSE(std::filesystem::exists(folder / "b.csv"));
  const Outcome full =
      run_script(script((folder / "in.y4m") + " --output-video -") + " > /dev/full");
  CHECK(full.status == 2);
  CHECK(contains(full.err, "standard output cannot be written (No space left on device)\n"));
  const Outcome nothing = run_script(script("- < /dev/null"));
  CHECK(nothing.status == 2);
  CHECK(nothing.err == "warpalign: standard input: is empty\n");
}

TEST_CASE("stack: where the disk is full, one line says so and no partial file stays") {
  require_test_device();
  const ScratchFolder folder;
  // The limit must leave room for the files of the device's compiler, so the frames are large.
  // Constant frames fail fast and are written as zeros.
  const Shape large{1024, 512, 1};
  std::vector<LoadedImage> frames(24, make_image(large.width, large.height, 1, PixelType::u16));
  frames[0] = draw({}, large, 1, PixelType::u16);
  write_tiff_stack(folder / "in.tif", frames);
  const auto before = folder.names();
  for (const std::string output : {"out.tif", "out.npy", "out.y4m"}) {
    CAPTURE(output);
    const std::string option = output == "out.y4m" ? "--output-video " : "--output ";
    // In blocks of 512 bytes: 20 frames of 1 MiB.
    const Outcome outcome = run_script(fmt::format(
        "trap '' XFSZ; ulimit -f 40960; \"$W\" stack {} --fast --device {} {} {} --csv {}",
        folder / "in.tif", test_device(), option, folder / output, folder / "drift.csv"));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.ends_with(
        fmt::format("\nwarpalign: {}: cannot be written (File too large); choose another folder\n",
                    folder / output)));
    CHECK(folder.names() == before);
  }
}

TEST_CASE("stack: thousands of frames from a pipe take no more memory than hundreds") {
#if defined(__SANITIZE_ADDRESS__)
  return ::test::skip_case("AddressSanitizer keeps what is freed");
#endif
  require_test_device();
  const ScratchFolder folder;
  const Shape small{64, 64, 1};
  std::vector<LoadedImage> frames;
  for (std::size_t i = 0; i < 4; ++i) {
    frames.push_back(
        draw({}, small, 1, PixelType::u8, Affine::translation(0.5 * static_cast<double>(i), 0)));
  }
  const std::string header = "YUV4MPEG2 W64 H64 Cmono\n";
  std::string records;
  for (std::size_t i = 0; i < 100; ++i) records += "FRAME\n" + bytes_of({frames[i % 4]});
  const auto peak_of = [&](std::size_t hundreds) {
    std::string video = header;
    for (std::size_t i = 0; i < hundreds; ++i) video += records;
    write_text(folder / "in.y4m", video);
    const Outcome outcome = run_script(fmt::format(
        "cat {} | \"$W\" stack - --fast --device {} --csv {} --json {} --plot {} --output {} "
        "--output-video {}",
        folder / "in.y4m", test_device(), folder / "d.csv", folder / "d.json", folder / "d.svg",
        folder / "out.tif", folder / "out.y4m"));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(json::parse(read_text(folder / "d.json"))["ok"] == 100 * hundreds);
    return outcome.peak_kilobytes;
  };
  (void)peak_of(1);  // compiles the kernels if they are not cached yet
  const long few = peak_of(3);
  const long many = peak_of(30);
  CAPTURE(few);
  CAPTURE(many);
  // 2700 more frames have 11 MiB of pixels. The plot keeps 40 bytes for each of up to 8192 frames,
  // and 200 bytes of text while it is drawn; the peak of a process varies by 2 MiB.
  CHECK(many - few < 4 * 1024);
}

/// The bytes of an image that is embedded in the page.
std::string embedded_png(const std::string& page, std::size_t number) {
  const std::string mark = "src=\"data:image/png;base64,";
  std::size_t at = 0;
  for (std::size_t i = 0; i <= number; ++i) {
    at = page.find(mark, at);
    REQUIRE(at != std::string::npos);
    at += mark.size();
  }
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t word = 0;
  std::size_t bits = 0;
  for (; page[at] != '"' && page[at] != '='; ++at) {
    word = word << 6U | static_cast<std::uint32_t>(digits.find(page[at]));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(word >> bits & 0xffU);
  }
  return bytes;
}

TEST_CASE(
    "stack: the page shows the drift, the mean before and after, and frames that are not ok") {
  require_test_device();
  const ScratchFolder folder;
  auto frames = drifting(9, PixelType::u8);
  frames[4] = make_image(shape.width, shape.height, 1, PixelType::u8);
  frames[5] = draw({77}, shape, 1, PixelType::u8);
  write_tiff_stack(folder / "<in>.tif", frames);
  for (const std::string to : {"first", "mean"}) {
    CAPTURE(to);
    const Outcome outcome = run_stack({folder / "<in>.tif", "--to", to, "--json",
                                       folder / "drift.json", "--report", folder / "drift.html"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    const std::string page = read_text(folder / "drift.html");
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(contains(page, "<svg"));
    CHECK(contains(page, "9 frames of 96 x 80"));
    CHECK(contains(page, "7 ok, 1 not reliable, 1 failed"));
    CHECK(contains(page, "&lt;in&gt;.tif[4]"));
    CHECK_FALSE(contains(page, "<in>"));
    CHECK_FALSE(contains(page, "src=\"http"));
    write_text(folder / "before.png", embedded_png(page, 0));
    write_text(folder / "after.png", embedded_png(page, 1));
    const LoadedImage before = load_image(folder / "before.png");
    const LoadedImage after = load_image(folder / "after.png");
    CHECK(before.shape() == shape);
    CHECK(after.shape() == shape);
    // The mean of aligned frames looks like the first frame. The residual of the regression line
    // from the first frame's gray levels to the image's measures the difference.
    const auto likeness = [&](const LoadedImage& picture) {
      double a = 0;
      double b = 0;
      double aa = 0;
      double bb = 0;
      double ab = 0;
      double n = 0;
      for (std::size_t y = 15; y < 65; ++y) {
        for (std::size_t x = 20; x < 76; ++x) {
          const auto p = static_cast<double>(picture.pixels[96 * y + x]);
          const auto q = static_cast<double>(frames[0].pixels[96 * y + x]);
          a += p, b += q, aa += p * p, bb += q * q, ab += p * q, n += 1;
        }
      }
      return (ab - a * b / n) / std::sqrt((aa - a * a / n) * (bb - b * b / n));
    };
    CHECK(likeness(after) > 0.995);
    CHECK(likeness(before) < 0.95);
    const json sharpness = json::parse(read_text(folder / "drift.json"))["sharpness"];
    // The value for the first frame alone by the definition on the page, over the same pixels
    // except the outermost; the mean of resampled frames is slightly less sharp.
    double squares = 0;
    for (std::size_t y = 1; y < 79; ++y) {
      for (std::size_t x = 1; x < 95; ++x) {
        const auto at = [&](std::size_t i, std::size_t j) {
          return static_cast<double>(frames[0].pixels[96 * j + i]);
        };
        squares += std::pow(at(x + 1, y) - at(x - 1, y), 2) / 4;
        squares += std::pow(at(x, y + 1) - at(x, y - 1), 2) / 4;
      }
    }
    const double expected = std::sqrt(squares / (78 * 94));
    CHECK(sharpness[1].get<double>() == doctest::Approx(expected).epsilon(0.05));
    CHECK(sharpness[0].get<double>() < 0.8 * expected);
  }
}

}  // namespace
}  // namespace warpalign::test
