// `warpalign register` end to end, on pictures whose transform is known.
#include "image_io/image_file.hpp"
#include "picture.hpp"
#include "run_program.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape reference_shape{288, 256, 1};
const Shape moving_shape{250, 300, 1};
const Similarity truth{14.0, 1.12, {6.5, -9.25}};

/// A pair in a folder; nothing where there is no device to register it on.
struct Pair {
  ScratchFolder folder;
  std::string reference;
  std::string moving;
  Affine matrix = truth.matrix(reference_shape, moving_shape);

  Pair(const std::string& extension, int channels, PixelType type)
      : reference(folder / ("reference" + extension)), moving(folder / ("moving" + extension)) {
    save_image(reference, draw({}, reference_shape, channels, type));
    save_image(moving, draw({}, moving_shape, channels, type, matrix.inverse()));
  }

  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"register", reference, moving, "--device", test_device()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
};

Affine matrix_of(const json& report) {
  const auto& m = report["matrix"];
  return {m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2]};
}

double largest_corner_error(const Affine& found, const Affine& expected, const Shape& shape) {
  double largest = 0;
  for (const double x : {0.0, static_cast<double>(shape.width - 1)}) {
    for (const double y : {0.0, static_cast<double>(shape.height - 1)}) {
      const Point a = found({x, y});
      const Point b = expected({x, y});
      largest = std::max(largest, std::hypot(a.x - b.x, a.y - b.y));
    }
  }
  return largest;
}

/// Root mean square difference of the aligned image to the reference, well inside of both.
template <typename Sample>
double misfit(const LoadedImage& aligned, const LoadedImage& reference, const Affine& matrix) {
  const auto a = aligned.samples<Sample>();
  const auto b = reference.samples<Sample>();
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto pixel = static_cast<std::int64_t>(i) / aligned.channels;
    const Point p = matrix(
        {static_cast<double>(pixel % aligned.width), static_cast<double>(pixel / aligned.width)});
    if (p.x < 1 || p.y < 1 || p.x > static_cast<double>(moving_shape.width - 2) ||
        p.y > static_cast<double>(moving_shape.height - 2)) {
      continue;
    }
    squares += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    count += 1;
  }
  return std::sqrt(squares / count);
}

TEST_CASE("the JSON report has the registration, and nothing else is printed") {
  if (!has_test_device()) return;
  const Pair pair(".png", 1, PixelType::u8);
  const Outcome outcome = pair.run({"--json"});
  CAPTURE(outcome.out);
  CHECK(outcome.status == 0);
  CHECK_FALSE(outcome.err.find("warpalign:") != std::string::npos);
  const json report = json::parse(outcome.out);
  CHECK(report.size() == 9);
  CHECK(report["status"] == "ok");
  CHECK(report["rotation_deg"].get<double>() == doctest::Approx(truth.rotation_deg).epsilon(0.03));
  CHECK(report["scale"].get<double>() == doctest::Approx(truth.scale).epsilon(0.01));
  CHECK(report["translation"].size() == 2);
  CHECK(report["confidence"].get<double>() >= 0.5);
  CHECK(report["confidence"].get<double>() <= 1);
  CHECK(report["device"] != "");
  CHECK(test_device().starts_with(report["backend"].get<std::string>()));
  CHECK(report["timings_ms"] == json::object());
  CHECK(largest_corner_error(matrix_of(report), pair.matrix, reference_shape) < 2);
}

TEST_CASE("timings come in both reports") {
  if (!has_test_device()) return;
  const Pair pair(".png", 1, PixelType::u8);
  const json report = json::parse(pair.run({"--json", "--timings"}).out);
  CHECK(report["timings_ms"].size() >= 5);
  CHECK(report["timings_ms"].contains("upload"));
  for (const auto& [stage, milliseconds] : report["timings_ms"].items()) {
    CAPTURE(stage);
    CHECK(milliseconds.get<double>() >= 0);
  }
  const Outcome human = pair.run({"--timings"});
  CHECK(human.out.find("####") != std::string::npos);
  CHECK(human.out.find("upload") != std::string::npos);
}

TEST_CASE("the human report says what, where and how sure") {
  if (!has_test_device()) return;
  const Pair pair(".pgm", 1, PixelType::u16);
  const Outcome outcome = pair.run({"--overlay", pair.folder / "fit.png"});
  CHECK(outcome.status == 0);
  CHECK_FALSE(outcome.err.find("warpalign:") != std::string::npos);
  for (const std::string part :
       {"rotation", "scale", "translation", "reliable", "device", "fit.png"}) {
    CAPTURE(part);
    CHECK(outcome.out.find(part) != std::string::npos);
  }
  const LoadedImage overlay = load_image(pair.folder / "fit.png");
  CHECK(overlay.height == reference_shape.height);
  CHECK(overlay.channels == 3);
}

template <typename Sample>
void check_output(const std::string& extension, int channels, PixelType type, double tolerance) {
  CAPTURE(extension);
  CAPTURE(channels);
  CAPTURE(std::string(name_of(type)));
  const Pair pair(extension, channels, type);
  const std::string output = pair.folder / ("aligned" + extension);
  const Outcome outcome = pair.run({"--json", "--output", output});
  REQUIRE(outcome.status == 0);
  const LoadedImage aligned = load_image(output);
  CHECK(aligned.shape() == reference_shape);
  CHECK(aligned.channels == channels);
  CHECK(aligned.type == type);
  CHECK(misfit<Sample>(aligned, load_image(pair.reference), matrix_of(json::parse(outcome.out))) <
        tolerance);
  CHECK(pair.folder.names().size() == 3);
}

TEST_CASE("the output lies on the reference, in the moving image's kind") {
  if (!has_test_device()) return;
  check_output<std::uint8_t>(".png", 1, PixelType::u8, 8);
  check_output<std::uint8_t>(".png", 3, PixelType::u8, 8);
  check_output<std::uint16_t>(".png", 3, PixelType::u16, 8 * 257);
  check_output<std::uint16_t>(".pgm", 1, PixelType::u16, 8 * 257);
  check_output<float>(".tif", 1, PixelType::f32, 8.0 / 255);
  check_output<float>(".tif", 3, PixelType::f32, 8.0 / 255);
  check_output<std::uint8_t>(".jpg", 3, PixelType::u8, 10);
}

TEST_CASE("unrelated images give status 1, with report and files") {
  if (!has_test_device()) return;
  const Pair pair(".png", 1, PixelType::u8);
  save_image(pair.moving, draw({77}, moving_shape, 1, PixelType::u8));
  const Outcome outcome = pair.run({"--json", "--output", pair.folder / "aligned.png"});
  CHECK(outcome.status == 1);
  CHECK(json::parse(outcome.out)["status"] == "unreliable");
  CHECK(load_image(pair.folder / "aligned.png").shape() == reference_shape);
  CHECK(pair.run({}).out.find("NOT RELIABLE") != std::string::npos);
}

TEST_CASE("a photograph registers to itself") {
  if (!has_test_device()) return;
  const std::string photograph = WARPALIGN_TEST_DATA "/bridge.jpg";
  if (!std::filesystem::exists(photograph)) return;
  const Outcome outcome =
      run_program({"register", photograph, photograph, "--json", "--device", test_device()});
  CHECK(outcome.status == 0);
  CHECK(largest_corner_error(matrix_of(json::parse(outcome.out)), {}, {512, 512, 1}) < 0.2);
}

}  // namespace
}  // namespace warpalign::test
