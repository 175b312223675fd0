// `register`, `resample` and `stack` with local motion, on images drawn with a known motion.
#include "io/image_file.hpp"
#include "program/arrays.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>
#include <utility>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{256, 224, 1};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A drift plus a third of a wave over the frame, multiplied by `share`.
Point displacement(const Point& p, double share) {
  const double two_pi = 2 * std::numbers::pi / 700;
  return {share * (1.2 * std::sin(two_pi * p.y) + 0.8),
          share * (1.0 * std::cos(two_pi * p.x) - 0.5)};
}

/// frame(x + u(x)) = texture(x). An iteration finds the origin of each pixel; it converges because
/// the displacement changes by less than 2 % of a pixel between neighbours.
LoadedImage displaced(double share, PixelType type = PixelType::u16) {
  LoadedImage image = make_image(shape.width, shape.height, 1, type);
  const Texture texture;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      Point from = p;
      for (int i = 0; i < 10; ++i) {
        const Point u = displacement(from, share);
        from = {p.x - u.x, p.y - u.y};
      }
      const auto at = static_cast<std::size_t>(y * shape.width + x);
      const double value = texture(from);
      if (type == PixelType::u16) {
        image.samples<std::uint16_t>()[at] = static_cast<std::uint16_t>(65535 * value);
      } else {
        image.samples<std::uint8_t>()[at] = static_cast<std::uint8_t>(255 * value);
      }
    }
  }
  return image;
}

/// The root mean square distance between a field and the motion.
double field_error(const Array& field, double share) {
  const auto u = field.samples<float>();
  const std::size_t count = u.size() / 2;
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto width = static_cast<std::size_t>(shape.width);
    const Point truth =
        displacement({static_cast<double>(i % width), static_cast<double>(i / width)}, share);
    squares += std::pow(static_cast<double>(u[i]) - truth.x, 2) +
               std::pow(static_cast<double>(u[count + i]) - truth.y, 2);
  }
  return std::sqrt(squares / static_cast<double>(count));
}

/// The root mean square difference of two 16-bit images, in 8-bit gray levels, over the pixels at
/// least `edge` from the border.
double misfit(const LoadedImage& a, const LoadedImage& b, std::int64_t edge) {
  double squares = 0;
  double count = 0;
  for (std::int64_t y = edge; y < shape.height - edge; ++y) {
    for (std::int64_t x = edge; x < shape.width - edge; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const double difference = static_cast<double>(a.samples<std::uint16_t>()[i]) -
                                static_cast<double>(b.samples<std::uint16_t>()[i]);
      squares += std::pow(difference / 257, 2);
      count += 1;
    }
  }
  return std::sqrt(squares / count);
}

struct Pair {
  ScratchFolder folder;
  std::string reference = folder / "reference.png";
  std::string moving = folder / "moving.png";

  Pair() {
    save_image(reference, displaced(0));
    save_image(moving, displaced(1));
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"register", reference, moving,     "--motion",   "local",
                                       "--window", "64",      "--device", test_device()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
};

// Windows of 64 pixels measure the mean motion within them, and at the frame's edge, half a window
// beyond the last centre, the field is extrapolated: together a few hundredths of a pixel.
constexpr double field_off = 0.05;

TEST_CASE("register: local motion is found, and all requested files are written") {
  require_test_device();
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  const Outcome outcome =
      pair.run({"--json", "--field", folder / "field.npy", "--output", folder / "flat.tif",
                "--overlay", folder / "overlay.png", "--report", folder / "page.html"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["status"] == "ok");
  CHECK(report["motion"] == "local");
  CHECK(report["windows"] == json::array({7, 6}));
  CHECK(report["shifts"].size() == 42);
  CHECK(report["used"].get<int>() + report["outliers"].get<int>() <= 42);
  CHECK(report["used"].get<int>() >= 38);
  CHECK(report["field"]["rms"].get<double>() < field_off);
  CHECK(report["field"]["overlap"].get<double>() > 0.9);
  for (const json& window : report["shifts"]) {
    CHECK(window["centre"].size() == 2);
    CHECK(window["shift"].size() == 2);
    CHECK(window["reliable"].is_boolean());
  }
  const Array field = load_npy(folder / "field.npy");
  REQUIRE(field.extents == std::vector<std::int64_t>{2, shape.height, shape.width});
  CHECK(field.type == PixelType::f32);
  CHECK(field_error(field, 1) < field_off);
  const LoadedImage flat = load_image(folder / "flat.tif");
  const LoadedImage reference = load_image(pair.reference);
  CHECK(misfit(flat, reference, 8) < 0.1 * misfit(load_image(pair.moving), reference, 8));
  CHECK(load_image(folder / "overlay.png").width > 2 * shape.width);
  const std::string page = read_text(folder / "page.html");
  CHECK(contains(page, "<svg"));
  CHECK(contains(page, "</html>"));
}

TEST_CASE("register: each output of local motion can be requested alone") {
  require_test_device();
  for (const auto& [option, name] :
       std::vector<std::pair<std::string, std::string>>{{"--output", "flat.tif"},
                                                        {"--overlay", "overlay.png"},
                                                        {"--field", "field.npy"},
                                                        {"--report", "page.html"}}) {
    CAPTURE(option);
    const Pair pair;
    const Outcome outcome = pair.run({option, pair.folder / name});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.out, pair.folder / name));
    CHECK(std::filesystem::exists(pair.folder / name));
  }
}

TEST_CASE("resample: with the field that register writes, equals register's own output") {
  require_test_device();
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  REQUIRE(pair.run({"--field", folder / "field.npy", "--output", folder / "flat.png"}).status == 0);
  run_successfully({"resample", pair.moving, folder / "again.png", "--field", folder / "field.npy",
                    "--boundary", "constant"});
  // Positions differ by rounding, up to 1e-6 of 256 pixels; the slope is below 60 levels per
  // pixel.
  CHECK(misfit(load_image(folder / "again.png"), load_image(folder / "flat.png"), 8) < 0.02);
}

TEST_CASE("register: the text report, and types that differ") {
  require_test_device();
  const Pair pair;
  save_image(pair.reference, displaced(0, PixelType::u8));
  const Outcome outcome = pair.run({});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "The images fit: mean ("));
  CHECK(contains(outcome.out, "windows    7 x 6: "));
}

TEST_CASE("register: if no window has a reliable shift nothing is written") {
  require_test_device();
  const Pair pair;
  LoadedImage flat = make_image(shape.width, shape.height, 1, PixelType::u16);
  save_image(pair.moving, flat);
  const auto before = pair.folder.names();
  const std::vector<std::string> outputs{"--field", pair.folder / "field.npy", "--output",
                                         pair.folder / "flat.png"};
  const Outcome outcome = pair.run(outputs);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "No reliable fit: no window has a reliable shift"));
  for (const std::string name : {"field.npy", "flat.png"}) {
    CHECK(contains(outcome.out, "unwritten  " + (pair.folder / name) + ": there is no field"));
  }
  CHECK(pair.folder.names() == before);
  std::vector<std::string> with_json = outputs;
  with_json.push_back("--json");
  const json report = json::parse(pair.run(with_json).out);
  CHECK(report["status"] == "unreliable");
  CHECK(report["field"].is_null());
  CHECK(report["used"] == 0);
  CHECK(pair.folder.names() == before);
}

TEST_CASE("register: options that contradict local motion are refused") {
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  save_image(folder / "small.png", draw({}, {48, 48, 1}, 1, PixelType::u8));
  save_image(folder / "other.png", draw({}, {256, 256, 1}, 1, PixelType::u16));
  const auto before = folder.names();
  const auto refused = [&](const std::vector<std::string>& options,
                           const std::vector<std::string>& named, const std::string& moving = {}) {
    std::vector<std::string> arguments{
        "register", pair.reference, moving.empty() ? pair.moving : moving, "--device", "opencl:99"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_refused(run_program(arguments), 2, named);
    CHECK(folder.names() == before);
  };
  const auto local = [&](std::vector<std::string> options, const std::vector<std::string>& named) {
    options.insert(options.begin(), {"--motion", "local"});
    refused(options, named);
  };
  for (const char* option : {"--window", "--stride", "--smoothness"}) {
    refused({option, "32"}, {option, "--motion local"});
  }
  refused({"--field", folder / "f.npy"}, {"--field", "--motion local"});
  refused({"--report", folder / "f.html"}, {"--report", "--motion local"});
  local({"--window", "8"}, {"--window 8", "16"});
  local({"--window", "5000"}, {"--window 5000", "4096"});
  local({"--window", "225"}, {"moving.png", "225 x 225", "--window"});
  local({"--window", "64", "--stride", "0"}, {"--stride 0"});
  local({"--window", "64", "--stride", "65"}, {"--stride 65", "64"});
  local({"--smoothness", "0"}, {"--smoothness 0"});
  local({"--smoothness", "nan"}, {"--smoothness"});
  local({"--window", "64", "--max-shift", "33"}, {"--max-shift 33", "32"});
  local({"--fast"}, {"--fast", "local"});
  local({"--angle-range", "-3,3"}, {"--angle-range", "local"});
  local({"--candidates", "3"}, {"--candidates", "local"});
  local({"--timings"}, {"--timings", "local"});
  local({"--reference-mask", pair.reference}, {"--reference-mask", "local"});
  local({"--field", folder / "field.tif"}, {"--field", ".npy"});
  local({"--report", folder / "page.txt"}, {"--report", ".html"});
  local({"--output", pair.moving}, {"--output", "moving.png"});
  local({"--overlay", folder / "a.png", "--output", folder / "a.png"}, {"--overlay", "a.png"});
  local({"--field", folder / "none" + std::string("/f.npy")}, {"f.npy"});
  refused({"--motion", "local", "--window", "64"}, {"other.png", "256 x 256", "256 x 224"},
          folder / "other.png");
}

/// Frames with increasing motion; the middle one has no content.
struct Stack {
  ScratchFolder folder;
  std::vector<std::string> names;

  explicit Stack(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      names.push_back(folder / fmt::format("f{}.png", i));
      save_image(names.back(), displaced(0.5 * static_cast<double>(i)));
    }
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"stack", "--device", test_device(), "--motion",
                                       "local", "--window", "64"};
    arguments.insert(arguments.end(), names.begin(), names.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
};

TEST_CASE("stack: local motion is corrected, and its mean and spread are reported") {
  require_test_device();
  for (const std::string to : {"first", "mean"}) {
    CAPTURE(to);
    const Stack stack(4);
    const ScratchFolder& folder = stack.folder;
    const Outcome outcome =
        stack.run({"--to", to, "--json", folder / "drift.json", "--csv", folder / "drift.csv",
                   "--output-folder", folder / "aligned", "--report", folder / "page.html"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.out, "spread"));
    const json report = json::parse(read_text(folder / "drift.json"));
    const LoadedImage first = load_image(stack.names[0]);
    for (std::size_t i = 1; i < 4; ++i) {
      const json& frame = report["frames"][i];
      CAPTURE(frame.dump());
      CHECK(frame["status"] == "ok");
      const double share = 0.5 * static_cast<double>(i);
      Point mean;
      double squares = 0;
      const auto count = static_cast<double>(shape.plane());
      for (std::int64_t p = 0; p < shape.plane(); ++p) {
        const Point u = displacement(
            {static_cast<double>(p % shape.width), static_cast<double>(p / shape.width)}, share);
        mean = {mean.x + u.x / count, mean.y + u.y / count};
        squares += (u.x * u.x + u.y * u.y) / count;
      }
      const double spread = std::sqrt(squares - mean.x * mean.x - mean.y * mean.y);
      // The tolerance of the field, plus the blur of the mean of earlier frames.
      CHECK(std::abs(frame["translation"][0].get<double>() - mean.x) < field_off);
      CHECK(std::abs(frame["translation"][1].get<double>() - mean.y) < field_off);
      CHECK(std::abs(frame["spread"].get<double>() - spread) < field_off);
      const LoadedImage aligned =
          load_image(folder / "aligned/" + frame["aligned"].get<std::string>());
      const LoadedImage moved = load_image(stack.names[i]);
      CHECK(misfit(aligned, first, 8) < 0.2 * misfit(moved, first, 8));
    }
    CHECK(report["sharpness"][1].get<double>() > 1.1 * report["sharpness"][0].get<double>());
    const std::string csv = read_text(folder / "drift.csv");
    const std::string header = csv.substr(0, csv.find('\n'));
    CHECK(contains(header, ",reason,"));
    CHECK(header.ends_with(",spread"));
    CHECK(contains(read_text(folder / "page.html"), "Local motion of the frame"));
  }
}

/// The lines of the drift table, without the names of files.
std::vector<std::string> lines_of(const std::string& csv) {
  std::vector<std::string> lines;
  std::istringstream text(read_text(csv));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("stack: frames registered in batches equal single ones") {
  require_test_device();
  Stack stack(5);
  const ScratchFolder& folder = stack.folder;
  const std::string other = folder / "other.png";
  save_image(other, draw({}, {64, 64, 1}, 1, PixelType::u16));
  Stack alone(0);
  alone.names = {stack.names[0], stack.names[4]};
  stack.names.insert(stack.names.begin() + 2, other);
  const Outcome together = stack.run({"--csv", folder / "together.csv"});
  CHECK(together.status == 2);  // one frame has another size
  CHECK(contains(together.err, "other.png"));
  const auto all = lines_of(folder / "together.csv");
  REQUIRE(all.size() == 7);
  CHECK(contains(all[3], "failed"));
  CHECK(alone.run({"--csv", folder / "alone.csv"}).status == 0);
  const auto last = lines_of(folder / "alone.csv").at(2);
  // The lines agree after the columns index and file.
  const auto behind_file = [](const std::string& line) {
    return line.substr(line.find(',', line.find(',') + 1));
  };
  CHECK(behind_file(all[6]) == behind_file(last));
}

TEST_CASE("stack: options that contradict local motion are refused") {
  const Stack stack(2);
  const auto before = stack.folder.names();
  const auto refused = [&](std::vector<std::string> options,
                           const std::vector<std::string>& named) {
    options.insert(options.end(), {"--device", "opencl:99"});
    std::vector<std::string> arguments{"stack", stack.names[0], stack.names[1]};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_refused(run_program(arguments), 2, named);
    CHECK(stack.folder.names() == before);
  };
  const std::string json_name = stack.folder / "d.json";
  refused({"--window", "64", "--json", json_name}, {"--window", "--motion local"});
  refused({"--motion", "local", "--to", "previous"}, {"--to previous", "local"});
  refused({"--motion", "local", "--mask", stack.names[0]}, {"--mask", "local"});
  refused({"--motion", "local", "--no-refine"}, {"--no-refine", "local"});
  refused({"--motion", "local", "--window", "240"}, {"f0.png", "240 x 240", "--window"});
  refused({"--motion", "local", "--shard", "1/2", "--to", "mean", "--json", json_name},
          {"--shard", "--to first"});
}

}  // namespace
}  // namespace warpalign::test
