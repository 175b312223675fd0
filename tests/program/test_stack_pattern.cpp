// `warpalign stack --fixed-pattern`: frames with a known motion under a known pattern.
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{160, 128, 1};
constexpr std::size_t frames = 14;
// What is right to a tenth of a pixel is what the check promises.
constexpr double pixels_off = 0.1;

Point shift_of(std::size_t i) {
  const auto k = static_cast<double>(i);
  return {6 * std::sin(1.7 * k), 5 * std::sin(2.3 * k)};
}

/// Columns as strong as the scene, which is drawn at a third of its contrast, and noise.
LoadedImage frame_of(std::size_t i, double scene, double columns) {
  LoadedImage image =
      draw({}, shape, 1, PixelType::u8, Affine::translation(-shift_of(i).x, -shift_of(i).y));
  std::mt19937 fixed(5), random(static_cast<std::uint32_t>(100 + i));
  std::normal_distribution<double> normal, noise;
  std::vector<double> offsets(static_cast<std::size_t>(shape.width));
  for (double& offset : offsets) offset = columns * normal(fixed);
  const auto samples = image.samples<std::uint8_t>();
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const double value = 110 + scene * (static_cast<double>(samples[k]) - 127) +
                         offsets[k % offsets.size()] + 2 * noise(random);
    samples[k] = static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0));
  }
  return image;
}

struct Stack {
  ScratchFolder folder;

  Stack(double scene, double columns) {
    std::vector<LoadedImage> images;
    for (std::size_t i = 0; i < frames; ++i) images.push_back(frame_of(i, scene, columns));
    write_tiff_stack(folder / "in.tif", images);
  }
  [[nodiscard]] Outcome run(const std::string& output, std::vector<std::string> options) const {
    options.insert(options.begin(), {"stack", "--device", test_device(), folder / "in.tif",
                                     "--motion", "translation", "--json", folder / output});
    return run_program(options);
  }
  [[nodiscard]] json report(const std::string& output) const {
    return json::parse(read_text(folder / output));
  }
};

void check_all_right(const json& report) {
  for (std::size_t i = 0; i < frames; ++i) {
    const json& frame = report["frames"][i];
    CAPTURE(frame.dump());
    CHECK(frame["status"] == "ok");
    CHECK(std::abs(frame["matrix"][0][2].get<double>() - shift_of(i).x) < pixels_off);
    CHECK(std::abs(frame["matrix"][1][2].get<double>() - shift_of(i).y) < pixels_off);
  }
}

TEST_CASE("stack: a pattern of columns is found, left out and reported") {
  require_test_device();
  const Stack stack(0.3, 18);
  const Outcome outcome = stack.run("d.json", {"--output", stack.folder / "a.npy"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("pattern    fixed to the sensor") != std::string::npos);
  const json report = stack.report("d.json");
  CHECK(report["fixed_pattern"]["rms"].get<double>() == doctest::Approx(18).epsilon(0.25));
  CHECK(report["fixed_pattern"]["frames"].get<int>() >= 6);
  CHECK(report["fixed_pattern"]["clear"] == true);
  check_all_right(report);

  // Without it the pattern pulls, or the frames are refused: the case is one.
  (void)stack.run("off.json", {"--fixed-pattern", "off"});
  const json off = stack.report("off.json");
  CHECK_FALSE(off.contains("fixed_pattern"));
  int wrong = 0;
  for (std::size_t i = 1; i < frames; ++i) {
    const json& frame = off["frames"][i];
    if (frame["status"] != "ok" ||
        std::abs(frame["matrix"][0][2].get<double>() - shift_of(i).x) > pixels_off) {
      ++wrong;
    }
  }
  CHECK(wrong > 0);
}

TEST_CASE("stack: --fixed-pattern works with other references, and a resumed run is the same") {
  require_test_device();
  const Stack stack(0.3, 18);
  for (const std::string to : {"previous", "5"}) {
    CAPTURE(to);
    const Outcome outcome = stack.run("d.json", {"--to", to});
    CHECK(outcome.status == 0);
    const json report = stack.report("d.json");
    CHECK(report.contains("fixed_pattern"));
    const Point origin = to == "5" ? shift_of(5) : Point{};
    const json& last = report["frames"][frames - 1];
    CHECK(std::abs(last["matrix"][0][2].get<double>() + origin.x - shift_of(frames - 1).x) <
          2 * pixels_off);  // previous composes motions
  }
  CHECK(stack.run("whole.json", {}).status == 0);
  CHECK(stack.run("part.json", {"--shard", "1/2"}).status == 0);
  CHECK(stack.run("part.json", {"--resume"}).status == 0);
  CHECK(read_text(stack.folder / "part.json") == read_text(stack.folder / "whole.json"));
}

TEST_CASE("stack: an image that --to names loses the pattern if it shows it") {
  require_test_device();
  const Stack stack(0.3, 18);
  // A frame of another recording of the same camera, and the picture of a camera without a pattern.
  constexpr std::size_t view = 20;
  // The residual of the pattern in both images, up to a third, pulls most where they nearly
  // coincide: frame 9 lies 0.7 pixels from this view.
  constexpr double allowed = 1.5 * pixels_off;
  save_image(stack.folder / "same.tif", frame_of(view, 0.3, 18));
  save_image(stack.folder / "other.tif", frame_of(view, 0.6, 0));
  for (const auto& [name, gain] : {std::pair{"same.tif", 1.0}, std::pair{"other.tif", 0.0}}) {
    CAPTURE(name);
    const Outcome outcome = stack.run("d.json", {"--to", stack.folder / name});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    const json report = stack.report("d.json");
    CHECK(report["fixed_pattern"]["reference_gain"] == gain);
    CHECK(outcome.out.find(gain > 0 ? "left out, of the reference too"
                                    : "the reference does not show it") != std::string::npos);
    for (std::size_t i = 0; i < frames; ++i) {
      const json& frame = report["frames"][i];
      CAPTURE(frame.dump());
      CHECK(frame["status"] == "ok");
      CHECK(std::abs(frame["matrix"][0][2].get<double>() + shift_of(view).x - shift_of(i).x) <
            allowed);
      CHECK(std::abs(frame["matrix"][1][2].get<double>() + shift_of(view).y - shift_of(i).y) <
            allowed);
    }
  }
  // With the pattern in both images, it pulls far more.
  (void)stack.run("off.json", {"--to", stack.folder / "same.tif", "--fixed-pattern", "off"});
  const json off = stack.report("off.json");
  double farthest = 0;
  for (const json& frame : off["frames"]) {
    const Point moved = shift_of(frame["frame"].get<std::size_t>());
    farthest = std::max(farthest,
                        std::abs(frame["matrix"][0][2].get<double>() + shift_of(view).x - moved.x));
  }
  CHECK(farthest > 2 * allowed);
  CHECK(stack.run("frame.json", {"--to", "5"}).status == 0);
  CHECK_FALSE(stack.report("frame.json")["fixed_pattern"].contains("reference_gain"));
}

TEST_CASE("stack: --fixed-pattern changes nothing without a pattern") {
  require_test_device();
  const Stack stack(0.8, 0);
  for (const char* choice : {"auto", "off"}) {
    CHECK(stack.run(fmt::format("{}.json", choice), {"--fixed-pattern", choice}).status == 0);
  }
  CHECK(read_text(stack.folder / "auto.json") == read_text(stack.folder / "off.json"));
}

TEST_CASE("stack: frames that show only the sensor's pattern are not registered") {
  require_test_device();
  const Stack stack(0, 12);
  const Outcome outcome = stack.run("d.json", {});
  CHECK(outcome.status == 2);
  const json report = stack.report("d.json");
  CHECK(report["failed"] == frames);
  CHECK(report["fixed_pattern"]["scene"] == false);
  CHECK(report["frames"][3]["reason"].get<std::string>().find("nothing but a pattern") !=
        std::string::npos);
}

TEST_CASE("stack: --fixed-pattern refuses other values, --fast and --apply") {
  const Stack stack(0.8, 0);
  for (const auto& [options, message] :
       {std::pair{std::vector<std::string>{"--fixed-pattern", "on"},
                  "invalid value 'on' for --fixed-pattern (choose from: auto, off)"},
        std::pair{std::vector<std::string>{"--fixed-pattern", "auto", "--fast"},
                  "--fixed-pattern auto: --fast does not support it"},
        std::pair{std::vector<std::string>{"--fixed-pattern", "auto", "--apply", "x.json"},
                  "--fixed-pattern auto: --apply registers nothing"}}) {
    std::vector<std::string> arguments{"stack", stack.folder / "in.tif"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(message) != std::string::npos);
  }
}

}  // namespace
}  // namespace warpalign::test
