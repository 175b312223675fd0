// `warpalign stack` end to end, on frames drawn from one texture under a known drift.
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "support/corners.hpp"
#include "support/skipped.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{160, 128, 1};

// The frames are drawn, not resampled, so this is the error of the registration alone: the
// requirement for the 95th percentile of clean pairs.
constexpr double pixels_off = 0.02;

/// The drift of frame `i`: up to 11 pixels, 4 degrees and 6 % after five frames.
Similarity drift_of(std::size_t i) {
  const auto t = static_cast<double>(i);
  return {0.8 * t, 1 + 0.012 * t, {2.1 * t, -0.7 * t + 0.05 * t * t}};
}

LoadedImage frame_under(const Similarity& drift, PixelType type = PixelType::u16,
                        int channels = 1) {
  return draw({}, shape, channels, type, drift.matrix(shape, shape).inverse());
}

struct Frames {
  ScratchFolder folder;
  std::vector<std::string> names;

  void add(const LoadedImage& image, const std::string& extension = ".png") {
    names.push_back(folder / fmt::format("f{}{}", names.size(), extension));
    save_image(names.back(), image);
  }
  void add_drifting(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(frame_under(drift_of(names.size())));
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"stack", "--device", test_device()};
    arguments.insert(arguments.end(), names.begin(), names.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
  [[nodiscard]] json report() const { return json::parse(read_text(folder / "drift.json")); }
};

double worst_corner(const json& frame, const Similarity& truth) {
  const auto& m = frame["matrix"];
  const Affine found{m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2]};
  return ::test::max_corner_distance(found, truth.matrix(shape, shape), shape);
}

void check_frame(const json& frame, const Similarity& truth) {
  CAPTURE(frame.dump());
  CHECK(frame["status"] == "ok");
  CHECK(frame["reliable"] == true);
  CHECK(worst_corner(frame, truth) < pixels_off);
  CHECK(std::abs(frame["translation"][0].get<double>() - truth.translation.x) < pixels_off);
  CHECK(std::abs(frame["translation"][1].get<double>() - truth.translation.y) < pixels_off);
  // A corner is 102 pixels from the centre; this angle and this scale move it by the tolerance.
  CHECK(std::abs(frame["rotation_deg"].get<double>() - truth.rotation_deg) < 0.011);
  CHECK(std::abs(frame["scale"].get<double>() - truth.scale) < 0.0002);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("stack: the drift from the first frame, for every choice of the reference") {
  require_test_device();
  Frames frames;
  frames.add_drifting(6);
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const Outcome outcome = frames.run({"--to", to, "--json", frames.folder / "drift.json"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    const json report = frames.report();
    CHECK(report["to"] == to);
    CHECK(report["ok"] == 6);
    REQUIRE(report["frames"].size() == 6);
    CHECK(report["frames"][0]["reference"].is_null());
    for (std::size_t i = 0; i < 6; ++i) {
      const json& frame = report["frames"][i];
      CHECK(frame["frame"] == i);
      CHECK(frame["file"] == frames.names[i]);
      check_frame(frame, drift_of(i));
      if (i == 0) continue;
      if (to == "first") CHECK(frame["reference"] == 0);
      if (to == "previous") CHECK(frame["reference"] == i - 1);
      if (to == "mean") CHECK(frame["reference"].is_null());
    }
  }
}

TEST_CASE("stack: CSV, JSON, plot and text agree") {
  require_test_device();
  Frames frames;
  frames.add_drifting(3);
  frames.names.push_back(frames.folder / "with,comma \"and quotes\".png");
  save_image(frames.names.back(), frame_under(drift_of(3)));
  const ScratchFolder& folder = frames.folder;
  const Outcome outcome = frames.run({"--csv", folder / "drift.csv", "--json",
                                      folder / "drift.json", "--plot", folder / "drift.svg"});
  CHECK(outcome.status == 0);
  const json report = frames.report();
  const auto lines = lines_of(read_text(folder / "drift.csv"));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] ==
        "frame,file,status,reference,rotation_deg,scale,translation_x,translation_y,confidence,"
        "reliable,overlap,correlation,significance,refined,reason,"
        "period1_x,period1_y,period2_x,period2_y,undetermined_x,undetermined_y");
  CHECK(lines[1] == "0," + frames.names[0] + ",ok,,0,1,0,0,1,true,1,1,0,false,,,,,,,");
  std::vector<std::string> fields;
  std::istringstream line(lines[2]);
  for (std::string field; std::getline(line, field, ',');) fields.push_back(field);
  REQUIRE(fields.size() == 20);  // the last field is empty
  const json& frame = report["frames"][1];
  CHECK(fields[3] == "0");
  CHECK(std::stod(fields[4]) == frame["rotation_deg"].get<double>());
  CHECK(std::stod(fields[5]) == frame["scale"].get<double>());
  CHECK(std::stod(fields[6]) == frame["translation"][0].get<double>());
  CHECK(std::stod(fields[7]) == frame["translation"][1].get<double>());
  CHECK(std::stod(fields[8]) == frame["confidence"].get<double>());
  CHECK(fields[9] == "true");
  CHECK(contains(lines[4], "with,comma \"\"and quotes\"\".png\",ok"));
  CHECK(read_text(folder / "drift.svg").starts_with("<svg"));
  CHECK(contains(outcome.out, "4 ok, 0 not reliable, 0 failed"));
}

TEST_CASE("stack: frames that cannot be used are named, and the others are registered") {
  require_test_device();
  Frames frames;
  frames.add_drifting(1);                                  // 0
  frames.add(frame_under(drift_of(1)));                    // 1: truncated below
  frames.add_drifting(1);                                  // 2
  frames.add(draw({}, {128, 128, 1}, 1, PixelType::u16));  // 3: another size
  frames.add(draw({77}, shape, 1, PixelType::u16));        // 4: another scene
  frames.add(make_image(160, 128, 1, PixelType::u16));     // 5: constant
  frames.names.push_back(frames.folder / "nowhere.png");   // 6
  frames.add_drifting(1);                                  // 7
  truncate_copy(frames.names[2], frames.names[1], 0.6);
  const std::vector<std::string> statuses{"ok",         "failed", "ok",     "failed",
                                          "unreliable", "failed", "failed", "ok"};
  const ScratchFolder& folder = frames.folder;
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const ScratchFolder aligned;
    const Outcome outcome = frames.run({"--to", to, "--json", folder / "drift.json", "--csv",
                                        folder / "drift.csv", "--output-folder", aligned / "new"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    for (const std::size_t i : {1U, 3U, 5U, 6U}) {
      CHECK(contains(outcome.err, fmt::format("warpalign: frame {}: {}: ", i, frames.names[i])));
    }
    CHECK(lines_of(outcome.err).size() == 4);
    CHECK(contains(outcome.err, "is 128 x 128, but the first frame is 160 x 128"));
    CHECK(contains(outcome.out, "3 ok, 1 not reliable, 4 failed"));
    const json report = frames.report();
    REQUIRE(report["frames"].size() == statuses.size());
    const auto lines = lines_of(read_text(folder / "drift.csv"));
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      CHECK(report["frames"][i]["status"] == statuses[i]);
      CHECK(report["frames"][i].contains("reason") == (statuses[i] == "failed"));
      CHECK(contains(lines[i + 1], "," + statuses[i] + ","));
    }
    CHECK(contains(lines[2], ",failed,,,,,,,,,,,,"));
    check_frame(report["frames"][2], drift_of(2));
    check_frame(report["frames"][7], drift_of(7));
    // The chain continues from the last reliable frame.
    if (to == "previous") CHECK(report["frames"][4]["reference"] == 2);
    if (to == "previous") CHECK(report["frames"][7]["reference"] == 2);
    std::vector<std::string> written;
    for (const auto& entry : std::filesystem::directory_iterator(aligned / "new")) {
      written.push_back(entry.path().filename());
    }
    std::sort(written.begin(), written.end());
    CHECK(written == std::vector<std::string>{"0000_f0.png", "0002_f2.png", "0007_f7.png"});
  }
}

TEST_CASE("stack: a frame that does not fit gives status 1") {
  require_test_device();
  Frames frames;
  frames.add_drifting(1);
  frames.add(draw({77}, shape, 1, PixelType::u16));
  const Outcome outcome = frames.run({"--json", frames.folder / "drift.json"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "NOT RELIABLE"));
  CHECK(frames.report()["frames"][1]["reliable"] == false);
}

/// A texture that (20, 0) and (0, 16) repeat, shifted by (x, y).
LoadedImage lattice(double x, double y) {
  LoadedImage image = make_image(shape.width, shape.height, 1, PixelType::u16);
  for (std::int64_t row = 0; row < shape.height; ++row) {
    for (std::int64_t column = 0; column < shape.width; ++column) {
      const double u = 2 * std::numbers::pi * (static_cast<double>(column) - x) / 20;
      const double v = 2 * std::numbers::pi * (static_cast<double>(row) - y) / 16;
      const double value = std::cos(u) + std::sin(v) + std::cos(u + v) + std::cos(2 * u - v);
      image.samples<std::uint16_t>()[static_cast<std::size_t>(row * shape.width + column)] =
          static_cast<std::uint16_t>(30000 + 5000 * value);
    }
  }
  return image;
}

TEST_CASE("stack: a repeating texture is followed while it drifts slowly, for every reference") {
  require_test_device();
  Frames frames;
  constexpr int count = 8;  // the last one has drifted by more than a period
  for (int i = 0; i < count; ++i) frames.add(lattice(3 * i, -1.5 * i));
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const Outcome outcome =
        frames.run({"--to", to, "--motion", "translation", "--json", frames.folder / "drift.json"});
    CHECK(outcome.status == 0);
    const json report = frames.report();
    for (int i = 0; i < count; ++i) {
      const json& frame = report["frames"][i];
      CAPTURE(frame.dump());
      CHECK(frame["status"] == "ok");
      CHECK(frame["period"].empty());
      CHECK(std::abs(frame["translation"][0].get<double>() - 3 * i) < pixels_off);
      CHECK(std::abs(frame["translation"][1].get<double>() + 1.5 * i) < pixels_off);
    }
  }
}

TEST_CASE(
    "stack: a repeating texture that drifts fast is ambiguous from there on, in all reports") {
  require_test_device();
  Frames frames;
  for (const double x : {0.0, 2.0, 10.0, 12.0}) frames.add(lattice(x, 0));
  for (const std::string to : {"first", "previous"}) {
    CAPTURE(to);
    const ScratchFolder& folder = frames.folder;
    const Outcome outcome = frames.run({"--to", to, "--motion", "translation", "--json",
                                        folder / "drift.json", "--csv", folder / "drift.csv"});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.out, "AMBIGUOUS"));
    const json report = frames.report();
    CHECK(report["ok"] == 2);
    CHECK(report["frames"][1]["status"] == "ok");
    const auto lines = lines_of(read_text(folder / "drift.csv"));
    REQUIRE(lines.size() == 5);
    for (const std::size_t i : {2U, 3U}) {
      const json& frame = report["frames"][i];
      CAPTURE(frame.dump());
      CHECK(frame["status"] == "ambiguous");
      CHECK(frame["reliable"] == false);
      REQUIRE(frame["period"].size() == 2);
      CHECK(std::abs(std::abs(frame["period"][0][1].get<double>()) - 16) < 0.3);
      CHECK(std::abs(std::abs(frame["period"][1][0].get<double>()) - 20) < 0.3);
      CHECK(contains(lines[i + 1], ",ambiguous,"));
      const std::string period = fmt::format(",{},{},", frame["period"][0][0].get<double>(),
                                             frame["period"][0][1].get<double>());
      CHECK(contains(lines[i + 1], period));
    }
  }
}

/// The root mean square difference of two images' samples, well inside both frames.
template <typename Sample>
double misfit(const LoadedImage& a, const LoadedImage& b) {
  double squares = 0;
  double count = 0;
  const auto channels = static_cast<std::size_t>(a.channels);
  for (std::int64_t y = 30; y < shape.height - 30; ++y) {
    for (std::int64_t x = 30; x < shape.width - 30; ++x) {
      const std::size_t first = channels * static_cast<std::size_t>(y * shape.width + x);
      for (std::size_t i = first; i < first + channels; ++i) {
        const double difference = static_cast<double>(a.samples<Sample>()[i]) -
                                  static_cast<double>(b.samples<Sample>()[i]);
        squares += difference * difference;
        count += 1;
      }
    }
  }
  return std::sqrt(squares / count);
}

TEST_CASE("stack: aligned frames match the first one, and keep their type") {
  require_test_device();
  const auto check = [](PixelType type, int channels, const std::string& extension, auto sample,
                        double full) {
    using Sample = decltype(sample);
    Frames frames;
    frames.add(frame_under({}, type, channels), extension);
    frames.add(frame_under(drift_of(3), type, channels), extension);
    const Outcome outcome = frames.run({"--output-folder", frames.folder / "aligned"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const LoadedImage first = load_image(frames.folder / ("aligned/0000_f0" + extension));
    const LoadedImage second = load_image(frames.folder / ("aligned/0001_f1" + extension));
    CHECK(first.pixels == load_image(frames.names[0]).pixels);
    CHECK(second.type == type);
    CHECK(second.channels == channels);
    CHECK(second.shape() == shape);
    // Rounding both frames to 8 bits costs 0.16 %, and the spline of so fine a texture as much
    // again. Unaligned frames differ by 10 %.
    CHECK(misfit<Sample>(first, second) < 0.003 * full);
    // Pixels outside of the frame are 0: the first frame's upper right corner has left it.
    CHECK(second.samples<Sample>()[static_cast<std::size_t>(channels * (shape.width - 1))] == 0);
  };
  check(PixelType::u8, 3, ".png", std::uint8_t{}, 255);
  check(PixelType::u16, 1, ".png", std::uint16_t{}, 65535);
  check(PixelType::f32, 1, ".tif", float{}, 1);
}

TEST_CASE("stack: masked content neither affects the drift nor the other pixels") {
  require_test_device();
  // A pattern that does not move covers the left part of every frame, with a NaN in it.
  const LoadedImage pattern = draw({5}, shape, 1, PixelType::f32);
  const auto covered = [&](std::size_t i) {
    LoadedImage frame = frame_under(drift_of(i), PixelType::f32);
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < 56; ++x) {
        const auto at = static_cast<std::size_t>(y * shape.width + x);
        frame.samples<float>()[at] = 4 * pattern.samples<float>()[at];
      }
    }
    frame.samples<float>()[static_cast<std::size_t>(40 * shape.width + 20)] =
        std::numeric_limits<float>::quiet_NaN();
    return frame;
  };
  Frames frames;
  for (std::size_t i = 0; i < 4; ++i) frames.add(covered(i), ".tif");
  LoadedImage mask = make_image(shape.width, shape.height, 1, PixelType::u8);
  for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
    const bool counts = static_cast<std::int64_t>(i) % shape.width >= 56;
    mask.samples<std::uint8_t>()[i] = counts ? 1 : 0;
  }
  const std::string mask_name = frames.folder / "mask.png";
  save_image(mask_name, mask);
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const Outcome outcome =
        frames.run({"--to", to, "--mask", mask_name, "--json", frames.folder / "drift.json",
                    "--output-folder", frames.folder / ("aligned-" + to)});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    for (std::size_t i = 0; i < 4; ++i) check_frame(frames.report()["frames"][i], drift_of(i));
    const LoadedImage aligned = load_image(frames.folder / ("aligned-" + to + "/0003_f3.tif"));
    const auto samples = aligned.samples<float>();
    CHECK(std::all_of(samples.begin(), samples.end(), [](float s) { return std::isfinite(s); }));
  }
  // Without the mask only the NaN is left out, and the pattern counts.
  CHECK(frames.run({}).status == 1);
}

TEST_CASE("stack: memory does not grow with the number of frames") {
#if defined(__SANITIZE_ADDRESS__)
  return ::test::skip_case("AddressSanitizer keeps what is freed");
#endif
  require_test_device();
  const Shape large{512, 512, 1};
  Frames frames;
  frames.add(draw({}, large, 3, PixelType::f32), ".tif");
  frames.add(draw({}, large, 3, PixelType::f32, Affine::translation(3.5, -2.25)), ".tif");
  const auto peak_of = [&](std::size_t count) {
    Frames many;
    for (std::size_t i = 0; i < count; ++i) many.names.push_back(frames.names[i % 2]);
    const Outcome outcome = many.run({"--fast"});
    CHECK(outcome.status == 0);
    return outcome.peak_kilobytes;
  };
  (void)peak_of(2);  // compiles the kernels if they are not cached yet
  const long few = peak_of(4);
  const long many = peak_of(44);
  CAPTURE(few);
  CAPTURE(many);
  // A frame has 3 MiB of pixels: if the program kept 40 of them, they would take 120 MiB.
  CHECK(many - few < 30 * 1024);
}

TEST_CASE("stack: motions with more parameters than a similarity are refused") {
  const ScratchFolder folder;
  for (const std::string name : {"a.png", "b.png"}) {
    save_image(folder / name, draw({}, {64, 64, 1}, 1, PixelType::u8));
  }
  for (const std::string motion : {"affine", "homography", "auto"}) {
    const Outcome outcome = run_program(
        {"stack", folder / "a.png", folder / "b.png", "--motion", motion, "--device", "opencl:99"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("--motion: stacks are aligned by similarities") != std::string::npos);
  }
}

TEST_CASE("stack: wrong usage is refused before a device opens, and nothing is written") {
  Frames frames;
  frames.add_drifting(2);
  const ScratchFolder& folder = frames.folder;
  save_image(folder / "small.png", draw({}, {64, 64, 1}, 1, PixelType::u8));
  save_image(folder / "empty.png", make_image(shape.width, shape.height, 1, PixelType::u8));
  const auto before = folder.names();
  const auto refused = [&](const std::vector<std::string>& options, const std::string& named,
                           std::size_t count = 2) {
    std::vector<std::string> arguments{"stack", "--device", "opencl:99"};
    arguments.insert(arguments.end(), frames.names.begin(),
                     frames.names.begin() + static_cast<std::ptrdiff_t>(count));
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(lines_of(outcome.err).size() == 1);
    CHECK(contains(outcome.err, named));
    CHECK(folder.names() == before);
  };
  refused({}, "FILES", 0);
  refused({}, "is a single frame", 1);
  refused({"--to", "last"}, "invalid value 'last' for --to");
  refused({"--plot", folder / "drift.png"}, ".svg");
  refused({"--csv", frames.names[1]}, "--csv");
  refused({"--csv", folder / "a", "--json", folder / "a"}, "--json");
  refused({"--csv", folder / "missing/a.csv"}, "missing/a.csv");
  refused({"--output-folder", "/proc/aligned"}, "/proc/aligned");
  refused({"--mask", folder / "small.png"}, "small.png: is 64 x 64, but the first frame");
  refused({"--mask", folder / "empty.png"}, "excludes every pixel");
  refused({"--mask", folder / "small.png", "--fast"}, "--fast does not support masks");
  refused({"--fast", "--max-shift", "3"}, "--max-shift: --fast");
  refused({"--scale-range", "2,1"}, "--scale-range 2,1");
  // An empty number is an error, not the same as no option.
  refused({"--max-shift", ""}, "--max-shift : must be a number above 0");
  refused({"--candidates", "3"}, "--candidates");
  // Without a readable first frame there is nothing to register to.
  truncate_copy(frames.names[1], frames.names[0], 0.5);
  refused({"--csv", folder / "drift.csv"}, "f0.png: is damaged");
  // Aligned frames must not overwrite frames.
  const std::string clash = folder / "0001_f1.png";
  save_image(clash, frame_under({}));
  const Outcome outcome =
      run_program({"stack", clash, frames.names[1], "--output-folder", folder / ""});
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "0001_f1.png in it is one of the frames"));
  // The same holds for a file with several frames, for the mask, and for another output.
  const std::string several = folder / "x.tif";
  const std::string next = folder / "0001_x.tif";
  std::filesystem::copy(clash, several);
  std::filesystem::copy(clash, next);
  const auto into_folder = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"stack", several};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--output-folder", folder / ""});
    const Outcome refusal = run_program(all);
    CHECK(refusal.status == 2);
    return refusal.err;
  };
  CHECK(contains(into_folder({frames.names[1], next}), "0001_x.tif in it is one of the frames"));
  CHECK(contains(into_folder({"--mask", next}), "0001_x.tif in it is the mask"));
  CHECK(contains(into_folder({"--output", next}), "0001_x.tif in it is another output"));
}

}  // namespace
}  // namespace warpalign::test
