// `warpalign experiment`: the files that each experiment writes, and whether their numbers are
// plausible.
#include "program/arrays.hpp"
#include "program/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

/// An image, and the folder that an experiment will create.
struct ExperimentFolder {
  ScratchFolder folder;
  std::string image = folder / "in.png";
  std::string output = folder / "made/here";

  explicit ExperimentFolder(int channels = 1, PixelType type = PixelType::u8) {
    save_image(image, draw({}, {64, 48, 1}, channels, type));
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return output + "/" + name; }

  /// Returns the report, after checking that it lists all files.
  [[nodiscard]] json report(const std::string& name) const {
    json object = json::parse(read_text(*this / name));
    std::vector<std::string> listed = object["files"];
    listed.push_back(name);
    std::sort(listed.begin(), listed.end());
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(output)) {
      found.push_back(entry.path().filename());
    }
    std::sort(found.begin(), found.end());
    CHECK(found == listed);
    return object;
  }
  void check_pictures(const json& report) const {
    for (const std::string name : report["files"]) {
      CAPTURE(name);
      if (name.ends_with(".png")) CHECK(load_image(*this / name).width > 0);
      if (name.ends_with(".svg")) {
        const std::string svg = read_text(*this / name);
        CHECK(svg.starts_with("<svg"));
        CHECK(svg.ends_with("</svg>\n"));
        CHECK(svg.find("nan") == std::string::npos);
      }
    }
  }
};

TEST_CASE("experiment rotations: longer filters come closer to the exact one") {
  require_test_device();
  for (const int channels : {1, 3}) {
    const ExperimentFolder files(channels, channels == 1 ? PixelType::u8 : PixelType::u16);
    run_successfully({"experiment", "rotations", files.image, "--steps", "3", "--angle", "120",
                      "--output-folder", files.output});
    const json report = files.report("rotations.json");
    files.check_pictures(report);
    CHECK(report["steps"] == 3);
    std::map<std::string, json> results;
    for (const json& result : report["results"]) results[result["prefilter"]] = result;
    CHECK(results.size() == 10);
    CHECK(results["exact"]["to_exact"]["rms_image"] == 0);
    CHECK(results["fir:3"]["to_exact"]["rms_disc"] > results["fir:7"]["to_exact"]["rms_disc"]);
    CHECK(results["fir:7"]["to_exact"]["rms_disc"] > results["fir:15"]["to_exact"]["rms_disc"]);
    CHECK(results["fir:15"]["to_exact"]["largest_disc"] < 1);
    CHECK(results["iir:line"]["to_exact"]["largest_disc"] < 0.01);
    CHECK(results["exact"]["to_original"]["rms_disc"] < 5);
    CHECK(results["exact"]["to_original"]["rms_disc"] <
          results["fir:3"]["to_original"]["rms_disc"]);
    const LoadedImage residual = load_image(files / "residual_exact.png");
    CHECK(residual.shape() == Shape{64, 48, 1});
  }
}

TEST_CASE("experiment rotations by quarter turns changes nothing") {
  require_test_device();
  const ExperimentFolder files;
  save_image(files.image, draw({}, {40, 40, 1}, 1, PixelType::u8));
  run_successfully({"experiment", "rotations", files.image, "--steps", "4", "--angle", "-90",
                    "--output-folder", files.output});
  const json report = files.report("rotations.json");
  for (const json& result : report["results"]) {
    if (result["prefilter"] == "exact") CHECK(result["to_original"]["rms_image"] < 1e-3);
  }
  CHECK(load_image(files / "image_exact.png").pixels == load_image(files.image).pixels);
}

TEST_CASE("experiment accuracy: full precision is exact to single precision") {
  require_test_device();
  const ExperimentFolder files;
  const Outcome outcome = run_program(
      {"experiment", "accuracy", "--devices", test_device(), "--output-folder", files.output});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.find("texture-lut") != std::string::npos);
  const json report = files.report("accuracy.json");
  files.check_pictures(report);
  REQUIRE(report["devices"].size() == 1);
  const json& device = report["devices"][0];
  REQUIRE(device["errors"].size() == 6);
  for (const json& error : device["errors"]) {
    CAPTURE(error.dump());
    const bool full = error["precision"] == "full";
    CHECK(error["largest"].get<double>() < (full ? 4e-7 : 0.05));
    CHECK(error["rms"].get<double>() > 0);
    CHECK(error["rms"].get<double>() <= error["largest"].get<double>());
  }
  CHECK(device["staircase"]["distinct_values"].get<int>() > 100);
  CHECK(std::filesystem::exists(files / device["staircase"]["file"].get<std::string>()));
}

TEST_CASE("experiment zoom: nearest shows the pixels as squares") {
  require_test_device();
  const ExperimentFolder files(3);
  run_successfully({"experiment", "zoom", files.image, "--factor", "3", "--region", "10,20,8,6",
                    "--output-folder", files.output});
  const json report = files.report("zoom.json");
  files.check_pictures(report);
  CHECK(report["region"] == json({10, 20, 8, 6}));
  const LoadedImage image = load_image(files.image);
  const LoadedImage nearest = load_image(files / "nearest.png");
  REQUIRE(nearest.shape() == Shape{24, 18, 1});
  REQUIRE(nearest.channels == 3);
  for (std::size_t y = 0; y < 18; ++y) {
    for (std::size_t x = 0; x < 24; ++x) {
      CHECK(nearest.samples<std::uint8_t>()[3 * (y * 24 + x)] ==
            image.samples<std::uint8_t>()[3 * ((y / 3 + 20) * 64 + x / 3 + 10)]);
    }
  }
  for (const char* name : {"bilinear.png", "cubic-without-prefilter.png", "cubic.png"}) {
    const LoadedImage panel = load_image(files / name);
    CHECK(panel.shape() == nearest.shape());
    CHECK(panel.pixels != nearest.pixels);
  }
  CHECK(load_image(files / "side-by-side.png").width > 4 * 24);
}

TEST_CASE("experiment zoom by default, of a floating-point image") {
  require_test_device();
  ExperimentFolder files;
  files.image = files.folder / "in.tif";
  save_image(files.image, draw({}, {90, 50, 1}, 1, PixelType::f32));
  run_successfully({"experiment", "zoom", files.image, "--output-folder", files.output});
  CHECK(files.report("zoom.json")["region"] == json({13, 0, 64, 50}));
  CHECK(load_image(files / "cubic.png").shape() == Shape{512, 400, 1});
}

TEST_CASE("experiments refuse invalid arguments, and create no folder") {
  const ExperimentFolder files;
  const auto refused = [&](std::vector<std::string> arguments,
                           const std::vector<std::string>& named) {
    arguments.insert(arguments.begin(), "experiment");
    arguments.insert(arguments.end(), {"--output-folder", files.output});
    check_refused(run_program(arguments), 2, named);
    CHECK(files.folder.names() == std::vector<std::string>{"in.png"});
  };
  refused({"rotations", files.image, "--steps", "35"}, {"--steps 35", "350 degrees"});
  refused({"rotations", files.image, "--steps", "0"}, {"--steps 0"});
  refused({"rotations", files.image, "--angle", "0"}, {"--angle 0"});
  refused({"rotations", files.image, "--angle", "nan"}, {"--angle"});
  refused({"rotations", files.folder / "missing.png"}, {"missing.png"});
  refused({"zoom", files.image, "--region", "0,0,65,10"}, {"--region", "beyond"});
  refused({"zoom", files.image, "--region", "0,0,10"}, {"--region"});
  refused({"zoom", files.image, "--region", "0.5,0,10,10"}, {"--region"});
  refused({"zoom", files.image, "--factor", "0"}, {"--factor"});
  refused({"zoom", files.image, "--factor", "1000"}, {"--factor", "4000"});
  refused({"zoom", files.image, "--factor", "nan"}, {"--factor"});
  refused({"accuracy", "--devices", "vulkan"}, {"vulkan"});
  check_refused(run_program({"experiment"}), 2, {"rotations, accuracy, zoom"});
  check_refused(run_program({"experiment", "spin"}), 2, {"spin"});
  check_refused(
      run_program({"experiment", "rotations", files.image, "--output-folder", files.image + "/x"}),
      2, {files.image + "/x"});
  check_refused(
      run_program({"experiment", "rotations", files.image, "--output-folder", files.image}), 2,
      {files.image});
  check_refused(run_program({"experiment", "accuracy", "--output-folder", "/proc/x"}), 2,
                {"/proc/x"});
}

TEST_CASE("an experiment that fails leaves existing files unchanged, and creates no folder") {
  const ExperimentFolder files;
  const std::vector<std::string> arguments{"experiment", "rotations",       files.image, "--device",
                                           "opencl:99",  "--output-folder", files.output};
  check_refused(run_program(arguments), 3, {"opencl"});
  CHECK(files.folder.names() == std::vector<std::string>{"in.png"});
  std::filesystem::create_directories(files.output);
  write_text(files / "rotations.json", "before");
  check_refused(run_program(arguments), 3, {"opencl"});
  CHECK(read_text(files / "rotations.json") == "before");
}

}  // namespace
}  // namespace warpalign::test
