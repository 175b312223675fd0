// `warpalign stack`: which frame is the reference if the first one cannot be used, and --to.
#include "commands/frame_texture.hpp"
#include "commands/journal_line.hpp"
#include "commands/journal_words.hpp"
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{160, 128, 1};

// The frames are drawn, not resampled: the requirement for the 95th percentile of clean pairs.
constexpr double pixels_off = 0.02;

/// The shift of frame `i` of the scene.
Point shift_of(double i) { return {-1.7 * i, 0.9 * i}; }

LoadedImage scene(double i) {
  return draw({}, shape, 1, PixelType::u8, Affine::translation(-shift_of(i).x, -shift_of(i).y));
}

LoadedImage noise(std::uint32_t seed) {
  LoadedImage image = make_image(shape.width, shape.height, 1, PixelType::u8);
  std::mt19937 engine(seed);
  for (std::uint8_t& sample : image.samples<std::uint8_t>()) {
    sample = static_cast<std::uint8_t>(engine() >> 24);
  }
  return image;
}

LoadedImage blank() { return make_image(shape.width, shape.height, 1, PixelType::u8); }

/// A low-pass filter: the mean of nine drawn copies up to 2 pixels away.
LoadedImage blurred(double i) {
  LoadedImage image = blank();
  std::vector<double> sums(image.pixels.size());
  for (const double y : {-2.0, 0.0, 2.0}) {
    for (const double x : {-2.0, 0.0, 2.0}) {
      const LoadedImage copy = draw({}, shape, 1, PixelType::u8,
                                    Affine::translation(x - shift_of(i).x, y - shift_of(i).y));
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += copy.samples<std::uint8_t>()[k];
    }
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    image.samples<std::uint8_t>()[k] = static_cast<std::uint8_t>(std::lround(sums[k] / 9));
  }
  return image;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Stack {
  ScratchFolder folder;

  explicit Stack(const std::vector<LoadedImage>& frames) {
    write_tiff_stack(folder / "in.tif", frames);
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{
        "stack",       "--device", test_device(),     folder / "in.tif", "--motion",
        "translation", "--json",   folder / "d.json", "--csv",           folder / "d.csv"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
  [[nodiscard]] json report() const { return json::parse(read_text(folder / "d.json")); }
};

void check_drift(const json& frame, Point expected) {
  CAPTURE(frame.dump());
  CHECK(frame["status"] == "ok");
  CHECK(std::abs(frame["matrix"][0][2].get<double>() - expected.x) < pixels_off);
  CHECK(std::abs(frame["matrix"][1][2].get<double>() - expected.y) < pixels_off);
}

TEST_CASE("stack: the first usable frame is the reference, for every choice of --to") {
  require_test_device();
  const Stack stack({noise(1), blank(), noise(2), scene(0), scene(1), blank(), scene(2), scene(3)});
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const Outcome outcome = stack.run({"--to", to, "--report", stack.folder / "d.html"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);  // two frames are constant
    const json report = stack.report();
    CHECK(report["to"] == to);
    CHECK(report["reference"]["frame"] == 3);
    CHECK(contains(report["reference"]["file"], "in.tif[3]"));
    CHECK(report["reference"]["reason"] == "the first usable frame");
    const json& frames = report["frames"];
    REQUIRE(frames.size() == 8);
    for (const std::size_t i : {0U, 2U}) CHECK(frames[i]["status"] == "unreliable");
    for (const std::size_t i : {1U, 5U}) CHECK(frames[i]["status"] == "failed");
    check_drift(frames[3], shift_of(0));
    check_drift(frames[4], shift_of(1));
    check_drift(frames[6], shift_of(2));
    check_drift(frames[7], shift_of(3));
    CHECK(frames[3]["reference"].is_null());
    CHECK(frames[3]["reason"] == "reference: the first usable frame");
    if (to == "first") CHECK(frames[7]["reference"] == 3);
    if (to == "previous") CHECK(frames[7]["reference"] == 6);
    if (to == "previous") CHECK(frames[0]["reference"] == 3);
    CHECK(contains(read_text(stack.folder / "d.csv"), ",reference: the first usable frame"));
    CHECK(contains(read_text(stack.folder / "d.html"), "the first usable frame"));
    CHECK(contains(outcome.out, "reference  frame 3 ("));
  }
}

TEST_CASE("stack: a usable frame between unusable ones is found, and constant ones take no place") {
  require_test_device();
  std::vector<LoadedImage> frames(40, blank());
  for (const LoadedImage& more : {noise(1), scene(0), noise(2), scene(1), scene(2)}) {
    frames.push_back(more);
  }
  const Stack stack(frames);
  CHECK(stack.run({"--output", stack.folder / "out.npy"}).status == 2);
  const json report = stack.report();
  CHECK(report["reference"]["frame"] == 41);
  CHECK(report["ok"] == 3);
  check_drift(report["frames"][44], shift_of(2));
}

TEST_CASE("stack: a usable first frame stays the reference where the next ones are not") {
  require_test_device();
  const Stack stack({scene(0), noise(1), noise(2), scene(1)});
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const Outcome outcome = stack.run({"--to", to});
    CHECK(outcome.status == 1);
    CHECK(outcome.err.empty());
    CHECK(!contains(outcome.out, "reference  "));
    const json report = stack.report();
    CHECK(report["reference"]["frame"] == 0);
    CHECK(!report["frames"][0].contains("reason"));
    check_drift(report["frames"][3], shift_of(1));
  }
}

TEST_CASE("stack: the program says that no frame is usable") {
  require_test_device();
  const Stack constant({blank(), blank(), blank()});
  const Outcome outcome = constant.run({});
  CHECK(outcome.status == 2);
  for (const int i : {0, 1, 2}) {
    CHECK(contains(outcome.err, fmt::format("warpalign: frame {}: ", i)));
  }
  CHECK(contains(outcome.err, "none of the 3 frames can be used"));
  CHECK(constant.report()["reference"]["frame"].is_null());
  CHECK(constant.report()["reference"]["reason"] == "no frame is usable");
  CHECK(constant.report()["failed"] == 3);

  const Stack noisy({noise(1), noise(2), noise(3), noise(4)});
  const Outcome unreliable = noisy.run({});
  CHECK(unreliable.status == 1);
  CHECK(contains(unreliable.out, "none of the next frames registers to another"));
  CHECK(noisy.report()["reference"]["frame"] == 0);
  CHECK(noisy.report()["unreliable"] == 3);
}

TEST_CASE("stack: a NaN in the first frames does not make them unusable, masked or not") {
  require_test_device();
  std::vector<LoadedImage> frames;
  for (const double i : {0.0, 1.0, 2.0}) {
    frames.push_back(
        draw({}, shape, 1, PixelType::f32, Affine::translation(-shift_of(i).x, -shift_of(i).y)));
    frames.back().samples<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  }
  frames[0].samples<float>()[static_cast<std::size_t>(60 * shape.width + 80)] =
      std::numeric_limits<float>::quiet_NaN();
  const Stack stack(frames);
  LoadedImage mask = blank();
  for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
    mask.samples<std::uint8_t>()[i] = i < static_cast<std::size_t>(8 * shape.width) ? 0 : 1;
  }
  save_image(stack.folder / "mask.png", mask);
  const Outcome outcome = stack.run({"--mask", stack.folder / "mask.png"});
  CHECK(outcome.status == 0);
  CHECK(stack.report()["reference"]["frame"] == 0);
  check_drift(stack.report()["frames"][2],
              {shift_of(2).x - shift_of(0).x, shift_of(2).y - shift_of(0).y});
}

TEST_CASE("stack: --to names a frame, an image file, or the sharpest frame") {
  require_test_device();
  const Stack stack({noise(1), blurred(0), blurred(1), scene(2), blurred(3), blurred(4)});
  const auto check = [&](const std::string& to, double origin, const std::string& name) {
    CAPTURE(to);
    const Outcome outcome = stack.run({"--to", to});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);  // the noise
    const json report = stack.report();
    CHECK(report["to"] == name);
    for (std::size_t i = 1; i < 6; ++i) {
      const Point of_frame = shift_of(static_cast<double>(i) - 1);
      const Point of_origin = shift_of(origin);
      check_drift(report["frames"][i], {of_frame.x - of_origin.x, of_frame.y - of_origin.y});
    }
    return report["reference"];
  };
  CHECK(check("2", 1, "frame")["frame"] == 2);
  const json sharpest = check("auto", 2, "auto");
  CHECK(sharpest["frame"] == 3);
  CHECK(sharpest["reason"] == "the sharpest, most textured frame");
  const std::string file = stack.folder / "reference.png";
  save_image(file, scene(1.5));
  const json other = check(file, 1.5, "file");
  CHECK(other["frame"].is_null());
  CHECK(other["file"] == file);
  CHECK(stack.report()["frames"][1]["reference"].is_null());
}

TEST_CASE("stack: --to beyond those frames that are read ahead") {
  require_test_device();
  std::vector<LoadedImage> frames;
  for (int i = 0; i < 44; ++i) frames.push_back(scene(0.2 * i));
  const Stack stack(frames);
  CHECK(stack.run({"--to", "40"}).status == 0);
  CHECK(stack.report()["reference"]["frame"] == 40);
  check_drift(stack.report()["frames"][0], {-shift_of(8).x, -shift_of(8).y});
  CHECK(stack.report()["frames"][40]["reference"].is_null());
}

TEST_CASE("stack: a wrong --to is refused before a device opens") {
  const Stack stack({scene(0), scene(1), scene(2)});
  save_image(stack.folder / "small.png", draw({}, {64, 64, 1}, 1, PixelType::u8));
  const auto refused = [&](const std::vector<std::string>& options, const std::string& why) {
    std::vector<std::string> arguments{"stack", stack.folder / "in.tif", "--device", "opencl:99"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, why));
  };
  refused({"--to", "3"}, "--to 3: the stack has 3 frames; choose 0 to 2");
  refused({"--to", "900"}, "--to 900: the stack has 3 frames");
  refused({"--to", "-1"}, "--to");
  refused({"--to", stack.folder / "small.png"}, "is 64 x 64, but the frames are 160 x 128");
  refused({"--to", stack.folder / "missing.png"}, "invalid value");
  const std::string video = stack.folder / "in.y4m";
  write_y4m(video, {scene(0), scene(1), scene(2)});
  for (const std::string to : {"auto", "40"}) {
    const Outcome outcome =
        run_script(fmt::format("cat '{}' | \"$W\" stack - --to {} --device opencl:99", video, to));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "standard input can be read only once"));
  }
}

TEST_CASE("stack: a constant frame that --to names is refused") {
  require_test_device();
  const Stack stack({scene(0), blank(), scene(2)});
  const Outcome outcome = stack.run({"--to", "1"});
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "--to 1: "));
  CHECK(contains(outcome.err, "constant"));
}

TEST_CASE("stack: shards and resumed runs keep the reference") {
  require_test_device();
  const Stack stack({noise(1), blank(), scene(0), scene(1), scene(2), noise(2), scene(3)});
  CHECK(stack.run({"--output", stack.folder / "out.npy"}).status == 2);
  const std::string drift = read_text(stack.folder / "d.csv");
  for (const std::string part : {"2/2", "1/2"}) {
    // The second part has the constant frame, the first one noise.
    CHECK(stack.run({"--output", stack.folder / "out.npy", "--shard", part}).status ==
          (part == "2/2" ? 2 : 1));
  }
  CHECK(stack.run({"--output", stack.folder / "out.npy", "--resume"}).status == 2);
  CHECK(read_text(stack.folder / "d.csv") == drift);
}

TEST_CASE("journal: the line of the drift's origin") {
  const DriftOrigin origin{DriftOrigin::Reason::sharpest, 17, "a name.tif[17]"};
  const auto read = parse_origin_line(origin_line(origin));
  REQUIRE(read);
  CHECK(read->frame == origin.frame);
  CHECK(read->reason == origin.reason);
  CHECK(read->file == origin.file);
  CHECK(!parse_origin_line(origin_line({DriftOrigin::Reason::named, {}, "x"}))->frame);
  CHECK(!parse_origin_line("origin 3 9 x"));
  CHECK(!parse_origin_line("origin 3"));
  CHECK(!parse_origin_line("frame 3 0 x"));
}

TEST_CASE("texture: a sharp frame has more than a blurred one, and noise and nothing have little") {
  const double sharp = texture_of(scene(0), {});
  const double soft = texture_of(blurred(0), {});
  CHECK(sharp > 1.5 * soft);
  CHECK(soft > 0);
  CHECK(texture_of(blank(), {}) == 0);
  // White noise of any amplitude: the margin of a quarter exceeds its sampling error.
  CHECK(texture_of(noise(1), {}) == 0);
  LoadedImage broken = draw({}, shape, 1, PixelType::f32);
  broken.samples<float>()[2000] = std::numeric_limits<float>::quiet_NaN();
  CHECK(texture_of(broken, {}) == -1);
  LoadedImage mask = blank();
  std::fill(mask.pixels.begin(), mask.pixels.end(), std::byte{1});
  mask.samples<std::uint8_t>()[2000] = 0;
  CHECK(texture_of(broken, mask) > 0);
}

}  // namespace
}  // namespace warpalign::test
