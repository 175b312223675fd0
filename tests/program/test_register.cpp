// `warpalign register` end to end, on images with a known transform.
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "support/corners.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape reference_shape{288, 256, 1};
const Shape moving_shape{250, 300, 1};
const Similarity truth{14.0, 1.12, {6.5, -9.25}};

// The error allowed at the worst corner after refinement, in pixels: the requirement for the 95th
// percentile of clean pairs.
constexpr double refined_off = 0.02;

/// A pair in a folder.
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

/// The RMS difference between the aligned image and the reference, well inside both.
template <typename Sample>
double misfit(const LoadedImage& aligned, const LoadedImage& reference, const Homography& matrix) {
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
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  const Outcome outcome = pair.run({"--json"});
  CAPTURE(outcome.out);
  CHECK(outcome.status == 0);
  CHECK_FALSE(outcome.err.find("warpalign:") != std::string::npos);
  const json report = json::parse(outcome.out);
  CHECK(report.size() == 24);
  CHECK(report["motion"] == "similarity");
  CHECK(report["status"] == "ok");
  CHECK(report["rotation_deg"].get<double>() == doctest::Approx(truth.rotation_deg).epsilon(0.03));
  CHECK(report["scale"].get<double>() == doctest::Approx(truth.scale).epsilon(0.01));
  CHECK(report["translation"].size() == 2);
  CHECK(report["confidence"].get<double>() >= 0.5);
  CHECK(report["confidence"].get<double>() <= 1);
  CHECK(report["overlap"].get<double>() > 0.5);
  CHECK(report["overlap"].get<double>() <= 1);
  CHECK(report["correlation"].get<double>() > 0.9);
  CHECK(report["significance"].get<double>() > 0);
  CHECK(report["refined"] == true);
  CHECK(report["modality"] == "same");
  CHECK(report["proposed_by"] == "log-polar");
  CHECK(report["chance"].is_null());
  CHECK(report["tried"] == json::array({"log-polar"}));
  CHECK(report["places_searched"].get<double>() > 1e6);
  CHECK(report["runners_up"] == json::array());
  CHECK(report["device"] != "");
  CHECK(test_device().starts_with(report["backend"].get<std::string>()));
  CHECK(report["timings_ms"] == json::object());
  CHECK(::test::max_corner_distance(matrix_of(report), pair.matrix, reference_shape) < refined_off);
}

/// Runs the program, requires success, and returns its report.
json report_of(const Pair& pair, const std::vector<std::string>& options) {
  std::vector<std::string> all{"--json"};
  all.insert(all.end(), options.begin(), options.end());
  const Outcome outcome = pair.run(all);
  CAPTURE(outcome.err);
  CAPTURE(outcome.out);
  REQUIRE(outcome.status == 0);
  return json::parse(outcome.out);
}

double corner_error_of(const json& report, const Pair& pair) {
  return ::test::max_corner_distance(matrix_of(report), pair.matrix, reference_shape);
}

TEST_CASE("the pipelines: fast, not refined, and from gradients") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  const json fast = report_of(pair, {"--fast"});
  CHECK(fast["overlap"].is_null());
  CHECK(fast["refined"] == false);
  CHECK(corner_error_of(fast, pair) < 2);  // the accuracy of the grid, as in tests/registration
  const json coarse = report_of(pair, {"--no-refine"});
  CHECK(coarse["refined"] == false);
  CHECK(corner_error_of(coarse, pair) < 0.05);  // a few hundredths, according to pair_search.cpp
  const json refined = report_of(pair, {"--spectrum", "gradient"});
  CHECK(corner_error_of(refined, pair) < refined_off);
  CHECK(pair.run({"--fast", "--no-refine"}).status == 0);
}

TEST_CASE("an image and its negative: --modality other, and the reports of the search") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  LoadedImage negative = load_image(pair.moving);
  for (std::uint8_t& sample : negative.samples<std::uint8_t>()) {
    sample = static_cast<std::uint8_t>(255 - sample);
  }
  save_image(pair.moving, negative);
  CHECK(pair.run({"--modality", "same"}).status == 1);
  for (const std::string modality : {"other", "auto"}) {
    CAPTURE(modality);
    const json report = report_of(pair, {"--modality", modality});
    CHECK(report["modality"] == "other");
    CHECK(report["proposed_by"] == "gradient-field");
    CHECK(report["tried"].back() == "gradient-field");
    CHECK(report["chance"]["deviations"].get<double>() >
          report["chance"]["by_chance"].get<double>() + 1);
    CHECK(report["chance"]["rival"].get<double>() < 0.7);
    // Edges are a few pixels wide, and have the same orientation in a negative.
    CHECK(corner_error_of(report, pair) < 0.1);
  }
  const Outcome text = pair.run({"--modality", "other"});
  CHECK(text.out.find("deviations from chance") != std::string::npos);
}

TEST_CASE("--search: fast tries log-polar spectra alone, thorough everything") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  CHECK(report_of(pair, {"--search", "fast"})["tried"] == json::array({"log-polar"}));
  const json thorough = report_of(pair, {"--search", "thorough"});
  CHECK(thorough["tried"] == json::array({"log-polar", "grid"}));
  CHECK(corner_error_of(thorough, pair) < refined_off);
}

TEST_CASE("ranges limit the search: if they exclude the truth nothing reliable is found") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);  // 14 degrees, scale 1.12, 11.3 pixels
  CHECK(corner_error_of(report_of(pair, {"--angle-range", "-5,20", "--scale-range", "1,1.3",
                                         "--max-shift", "15"}),
                        pair) < refined_off);
  CHECK(corner_error_of(report_of(pair, {"--angle-range", "370,380"}), pair) < refined_off);
  CHECK(corner_error_of(report_of(pair, {"--max-shift", "12,12"}), pair) < refined_off);
  for (const std::vector<std::string>& excluding :
       {std::vector<std::string>{"--angle-range", "30,150"},
        std::vector<std::string>{"--angle-range=-170,0"},
        std::vector<std::string>{"--scale-range", "1.6,4"},
        std::vector<std::string>{"--max-shift", "4"},
        std::vector<std::string>{"--max-shift", "1,20"},
        std::vector<std::string>{"--max-shift", "20,3"}}) {
    CAPTURE(excluding[0]);
    const Outcome outcome = pair.run(excluding);
    CAPTURE(outcome.out);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.find("NOT RELIABLE") != std::string::npos);
  }
}

TEST_CASE("motions keep their fixed parameters") {
  require_test_device();
  Pair pair(".png", 1, PixelType::u8);
  const auto move = [&](const Similarity& motion) {
    pair.matrix = motion.matrix(reference_shape, moving_shape);
    save_image(pair.moving, draw({}, moving_shape, 1, PixelType::u8, pair.matrix.inverse()));
  };
  move({0, 1, {-20.3, 31.6}});
  const json shifted = report_of(pair, {"--motion", "translation"});
  CHECK(shifted["rotation_deg"] == 0);
  CHECK(shifted["scale"] == 1);
  CHECK(corner_error_of(shifted, pair) < refined_off);

  move({14, 1, {6.5, -9.25}});
  const json rotated = report_of(pair, {"--motion", "rigid"});
  CHECK(rotated["scale"].get<double>() == doctest::Approx(1).epsilon(1e-9));
  CHECK(corner_error_of(rotated, pair) < refined_off);
  CHECK(pair.run({"--motion", "translation"}).status == 1);

  move({-33, 1, {}});
  const json about_centre = report_of(pair, {"--motion", "rotation"});
  CHECK(std::abs(about_centre["translation"][0].get<double>()) < 1e-9);
  CHECK(std::abs(about_centre["translation"][1].get<double>()) < 1e-9);
  CHECK(corner_error_of(about_centre, pair) < refined_off);
}

TEST_CASE("homographies are found, reported in three rows, and applied to output and overlay") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  const Homography projective =
      Homography(pair.matrix) * Homography({1, 0, 0, 0, 1, 0, 1.5e-4, -1e-4, 1});
  save_image(pair.moving, draw({}, moving_shape, 1, PixelType::u8, projective.inverse()));
  const std::string output = pair.folder / "aligned.png";
  const std::string overlay = pair.folder / "overlay.png";
  for (const std::string motion : {"homography", "auto"}) {
    CAPTURE(motion);
    const json report =
        report_of(pair, {"--motion", motion, "--output", output, "--overlay", overlay});
    CHECK(report["motion"] == "homography");
    REQUIRE(report["matrix"].size() == 3);
    Homography found;
    for (std::size_t i = 0; i < 9; ++i) found.h[i] = report["matrix"][i / 3][i % 3];
    // Two more parameters than an affine transform are estimated from the same pixels.
    CHECK(::test::max_corner_distance(found, projective, reference_shape) < 3 * refined_off);
    const LoadedImage aligned = load_image(output);
    // The same tolerance as for the outputs below.
    CHECK(misfit<std::uint8_t>(aligned, load_image(pair.reference), projective) < 1);
    CHECK(load_image(overlay).height == reference_shape.height);
  }
  const json affine = report_of(pair, {"--motion", "affine"});
  CHECK(affine["motion"] == "affine");
  CHECK(affine["matrix"].size() == 2);
  const Outcome text = pair.run({"--motion", "homography"});
  CHECK(text.out.starts_with("The images fit: homography, about the centre rotation"));
  CHECK(text.out.find("after division by") != std::string::npos);
}

TEST_CASE("if no homography fits, the report says so") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  save_image(pair.moving, draw({99}, moving_shape, 1, PixelType::u8));
  const Outcome outcome = pair.run({"--motion", "homography"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("NOT RELIABLE") != std::string::npos);
}

TEST_CASE("--candidates lists runners-up") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  const json report = report_of(pair, {"--candidates", "3"});
  const json& others = report["runners_up"];
  REQUIRE(!others.empty());
  CHECK(others.size() <= 2);
  for (const json& other : others) {
    CHECK(other.size() == 13);
    CHECK(other["significance"].get<double>() <= report["significance"].get<double>());
    CHECK(other["refined"] == false);
  }
  CHECK(pair.run({"--candidates", "3"}).out.find("or else") != std::string::npos);
}

/// Covers a part of the image with other content and a NaN. Returns the mask of the rest.
LoadedImage cover(LoadedImage& image, std::int64_t left, std::int64_t right) {
  LoadedImage mask = make_image(image.width, image.height, 1, PixelType::u8);
  const LoadedImage other = draw({9}, image.shape(), 1, PixelType::f32);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const auto at = static_cast<std::size_t>(y * image.width + x);
      const bool covered = x >= left && x < right;
      if (covered) image.samples<float>()[at] = 5 * other.samples<float>()[at];
      mask.samples<std::uint8_t>()[at] = covered ? 0 : 255;
    }
  }
  image.samples<float>()[static_cast<std::size_t>(90 * image.width + left + 7)] =
      std::numeric_limits<float>::quiet_NaN();
  return mask;
}

TEST_CASE("masked pixels do not count, even if they are NaN") {
  require_test_device();
  const Pair pair(".tif", 1, PixelType::f32);
  LoadedImage reference = load_image(pair.reference);
  LoadedImage moving = load_image(pair.moving);
  const std::string reference_mask = pair.folder / "reference-mask.png";
  const std::string moving_mask = pair.folder / "moving-mask.png";
  save_image(reference_mask, cover(reference, 10, 90));
  save_image(moving_mask, cover(moving, 170, 230));
  save_image(pair.reference, reference);
  save_image(pair.moving, moving);
  const std::string overlay = pair.folder / "fit.png";
  const std::vector<std::string> masks{"--reference-mask", reference_mask, "--moving-mask",
                                       moving_mask,        "--overlay",    overlay};
  const json report = report_of(pair, masks);  // JSON has no NaN: dump() would write null
  CHECK(corner_error_of(report, pair) < refined_off);
  CAPTURE(report.dump());
  for (const auto& [name, value] : report.items()) {
    // A conclusive result needs no null test, one that is not ambiguous has no direction, and a
    // similarity has no deformation.
    if (name == "chance" || name == "undetermined_direction" || name == "deformation") continue;
    CHECK_FALSE(value.is_null());
  }
  CHECK(load_image(overlay).height == reference_shape.height);
  // With one mask missing, only the NaN under it is left out.
  const Outcome one = pair.run({"--reference-mask", reference_mask, "--json"});
  CHECK(json::parse(one.out)["missing"] == json({{"reference", 0}, {"moving", 1}}));
}

TEST_CASE("timings are in both reports") {
  require_test_device();
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

TEST_CASE("the text report has the result, its parameters and its confidence") {
  require_test_device();
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

TEST_CASE("the output is aligned with the reference, and has the moving image's type") {
  require_test_device();
  // The bilinear warp of an image with detail down to 4 pixels costs half a gray level of 8 bits,
  // rounding 0.4 and JPEG 1.5.
  check_output<std::uint8_t>(".png", 1, PixelType::u8, 1.5);
  check_output<std::uint8_t>(".png", 3, PixelType::u8, 1.5);
  check_output<std::uint16_t>(".png", 3, PixelType::u16, 1.5 * 257);
  check_output<std::uint16_t>(".pgm", 1, PixelType::u16, 1.5 * 257);
  check_output<float>(".tif", 1, PixelType::f32, 1.5 / 255);
  check_output<float>(".tif", 3, PixelType::f32, 1.5 / 255);
  check_output<std::uint8_t>(".jpg", 3, PixelType::u8, 4);
}

TEST_CASE("unrelated images give status 1, with the report and the files") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  save_image(pair.moving, draw({77}, moving_shape, 1, PixelType::u8));
  const Outcome outcome = pair.run({"--json", "--output", pair.folder / "aligned.png"});
  CHECK(outcome.status == 1);
  CHECK(json::parse(outcome.out)["status"] == "unreliable");
  CHECK(load_image(pair.folder / "aligned.png").shape() == reference_shape);
}

TEST_CASE("an unreliable result names the options that search more") {
  require_test_device();
  const Pair pair(".png", 1, PixelType::u8);
  save_image(pair.moving, draw({77}, moving_shape, 1, PixelType::u8));
  const auto untried = [&](const std::vector<std::string>& options) {
    const std::string out = pair.run(options).out;
    CHECK(out.find("NOT RELIABLE") != std::string::npos);
    const std::size_t label = out.find("  not tried ");
    return label == std::string::npos ? "" : out.substr(label, out.find('\n', label) - label);
  };
  const std::string by_default = untried({});
  for (const char* option : {"--motion auto", "--modality auto", "--search thorough"}) {
    CHECK_MESSAGE(by_default.find(option) != std::string::npos, by_default);
  }
  CHECK(untried({"--motion", "affine", "--modality", "other"}) ==
        "  not tried  --search thorough (finer grids)");
  CHECK(untried({"--motion", "translation", "--modality", "auto", "--search", "thorough"}) ==
        "  not tried  --motion auto (perspective)");
  CHECK(untried({"--fast"}) == "  not tried  everything that --fast leaves out");
}

TEST_CASE("a photograph registers to itself") {
  require_test_device();
  const std::string photograph = WARPALIGN_TEST_DATA "/bridge.jpg";
  const Outcome outcome =
      run_program({"register", photograph, photograph, "--json", "--device", test_device()});
  CHECK(outcome.status == 0);
  CHECK(::test::max_corner_distance(matrix_of(json::parse(outcome.out)), {}, {512, 512, 1}) <
        refined_off);
}

}  // namespace
}  // namespace warpalign::test
