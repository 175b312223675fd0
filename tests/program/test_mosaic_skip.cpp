// `warpalign mosaic --skip-bad-tiles`: the tiles that are whole are joined, and the others named.
#include "program/mosaic_scan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

/// Cuts a file off in its middle.
void cut_off(const std::string& path) {
  const std::string whole = read_text(path);
  write_text(path, whole.substr(0, whole.size() / 2));
}

TEST_CASE("mosaic skips bad tiles when told so") {
  require_test_device();
  struct Case {
    const char* name;
    int tile;
    void (*spoil)(const std::string& path);
    const char* reason;
  };
  for (const Case& c :
       {Case{"missing", 5, [](const std::string& path) { std::filesystem::remove(path); },
             "t5.tif: cannot be read"},
        Case{"cut off", 2, cut_off, "t2.tif: is damaged or truncated"},
        Case{"empty", 0, [](const std::string& path) { write_text(path, ""); }, "t0.tif: is empty"},
        Case{"of another size", 4,
             [](const std::string& path) {
               save_image(path, draw({}, {150, 160, 1}, 1, PixelType::u16, {}));
             },
             "t4.tif: is 150 x 160, gray, 16 bit, but"},
        Case{"of another type", 1,
             [](const std::string& path) {
               save_image(path, draw({}, scan_tile, 1, PixelType::u8, {}));
             },
             "t1.tif: is 160 x 160, gray, 8 bit, but"}}) {
    CAPTURE(c.name);
    const Scan scan;
    scan.write_positions();
    c.spoil(scan.path(c.tile));
    const std::vector<std::string> outputs{"--output", scan.folder / "m.ome.tif", "--report",
                                           scan.folder / "m.html"};
    const Outcome refused = scan.run_positions(outputs);
    CHECK(refused.status == 2);
    CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
    std::vector<std::string> options = outputs;
    options.emplace_back("--skip-bad-tiles");
    const Outcome outcome = scan.run_positions(options);
    CAPTURE(outcome.err);
    CAPTURE(outcome.out);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.out, c.reason));
    const json report = scan.report();
    const std::string name = scan.names[static_cast<std::size_t>(c.tile)];
    REQUIRE(report["skipped"].size() == 1);
    CHECK(report["skipped"][0]["file"] == name);
    for (const json& tile : report["tiles"]) {
      CHECK(tile["placed_by"] == (tile["file"] == name ? "stage" : "pairs"));
    }
    std::size_t absent = 0;
    for (const json& pair : report["pairs"]) {
      const bool bad = pair["reference"] == name || pair["moving"] == name;
      CHECK(pair["used"] == !bad);
      if (bad) CHECK(pair["reason"] == "a tile of the pair is absent");
      absent += bad ? 1 : 0;
    }
    CHECK(absent == (c.tile % 3 == 1 ? 3 : 2));
    // The picture is empty where only this tile lies, and whole elsewhere.
    const LoadedImage picture = load_image(scan.folder / "m.ome.tif");
    const auto brightness = [&](int tile) {
      const json& at = report["tiles"][static_cast<std::size_t>(tile)]["matrix"];
      const auto x = static_cast<std::int64_t>(at[0][2].get<double>()) + 80;
      const auto y = static_cast<std::int64_t>(at[1][2].get<double>()) + 80;
      return picture.samples<std::uint16_t>()[static_cast<std::size_t>(y * picture.width + x)];
    };
    for (int i = 0; i < 6; ++i) CHECK((brightness(i) == 0) == (i == c.tile));
  }
}

TEST_CASE("mosaic skips bad tiles without positions, and goes on when they are repaired") {
  require_test_device();
  const Scan scan;
  const std::string whole = read_text(scan.path(5));
  cut_off(scan.path(5));
  const Outcome none = scan.run({"--positions", "none", "--skip-bad-tiles"});
  CAPTURE(none.err);
  CHECK(none.status == 1);
  CHECK(contains(none.out, "t5.tif: is damaged"));
  CHECK(scan.report()["tiles"][5]["placed_by"] == "none");
  // A journal of the run that stopped is continued.
  scan.write_positions();
  CHECK(scan.run_positions({"--resume"}).status == 2);
  const Outcome skipped = scan.run_positions({"--resume", "--skip-bad-tiles"});
  CAPTURE(skipped.err);
  CHECK(skipped.status == 1);
  CHECK(contains(skipped.out, "from the journal"));
  write_text(scan.path(5), whole);
  CHECK(scan.run_positions({"--skip-bad-tiles"}).status == 0);
  CHECK(scan.report()["skipped"].empty());
  CHECK(scan.rms() < promised_rms);
}

TEST_CASE("mosaic refuses to join few of the tiles") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  for (const int tile : {0, 1, 2, 4}) std::filesystem::remove(scan.path(tile));
  const Outcome outcome =
      scan.run_positions({"--skip-bad-tiles", "--output", scan.folder / "m.ome.tif"});
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "4 of 6 tiles cannot be used, the first because: "));
  CHECK(contains(outcome.err, "t0.tif: cannot be read"));
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
}

}  // namespace
}  // namespace warpalign::test
