// `warpalign mosaic` end to end, on tiles drawn from one texture at known positions.
#include "program/mosaic_scan.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

TEST_CASE("mosaic locates tiles from a CSV file, and writes picture and JSON") {
  require_test_device();
  for (const auto& [type, channels] :
       {std::pair{PixelType::u16, 1}, {PixelType::u8, 3}, {PixelType::f32, 1}}) {
    CAPTURE(name_of(type));
    const Scan scan(type, channels);
    scan.write_positions();
    const Outcome outcome = scan.run_positions({"--output", scan.folder / "m.ome.tif"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.out, "7 of 7 used"));
    CHECK(scan.rms() < promised_rms);
    const json report = scan.report();
    CHECK(report["tiles"][2]["file"] == "t2.tif");
    CHECK(report["tiles"][2]["placed_by"] == "pairs");
    CHECK(report["tiles"][2]["matrix"][0][0] == 1);
    CHECK(report["tiles"][2]["matrix"][1][0] == 0);
    CHECK(report["components"].size() == 1);
    const LoadedImage picture = load_image(scan.folder / "m.ome.tif");
    CHECK(picture.width == report["width"]);
    CHECK(picture.height == report["height"]);
    CHECK(picture.channels == channels);
    CHECK(picture.type == type);
  }
}

TEST_CASE("mosaic takes a grid, and positions in micrometres") {
  require_test_device();
  const Scan scan;
  CHECK(scan.run({"--grid", "2x3", "--overlap", "22.5"}).status == 0);
  CHECK(scan.rms() < promised_rms);
  scan.write_positions(0.65);
  CHECK(scan.run_positions({"--unit", "um", "--pixel-size", "0.65"}).status == 0);
  CHECK(scan.rms() < promised_rms);
  const Outcome wrong = scan.run({"--grid", "2x4", "--overlap", "20"});
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "has 6 images, but --grid 2x4 needs 8"));
}

TEST_CASE("mosaic takes grids in any order from any corner") {
  require_test_device();
  const Scan scan;
  struct Case {
    const char* order;
    const char* corner;
    std::vector<int> tiles;  // 0 1 2 are the upper row
  };
  for (const Case& c : {Case{"column", "top-left", {0, 3, 1, 4, 2, 5}},
                        Case{"snake-row", "top-right", {2, 1, 0, 3, 4, 5}},
                        Case{"snake-column", "bottom-left", {3, 0, 1, 4, 5, 2}},
                        Case{"row", "bottom-right", {5, 4, 3, 2, 1, 0}}}) {
    CAPTURE(c.order);
    const std::string name = fmt::format("{}-{}", c.order, c.corner);
    const Outcome outcome =
        run_program({"mosaic", scan.reordered(name, c.tiles), "--device", test_device(), "--grid",
                     "2x3", "--overlap", "22.5", "--order", c.order, "--corner", c.corner, "--json",
                     scan.folder / "m.json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json tiles = scan.report()["tiles"];
    const auto at = [&](std::size_t i, std::size_t axis) {
      return tiles[i]["matrix"][axis][2].get<double>();
    };
    const Point& first = scan.truth[static_cast<std::size_t>(c.tiles[0])];
    for (std::size_t k = 0; k < 6; ++k) {
      const Point& truth = scan.truth[static_cast<std::size_t>(c.tiles[k])];
      CHECK(std::abs(at(k, 0) - at(0, 0) - truth.x + first.x) < 4 * promised_rms);
      CHECK(std::abs(at(k, 1) - at(0, 1) - truth.y + first.y) < 4 * promised_rms);
    }
  }
}

TEST_CASE("mosaic searches for pairs if no positions are known") {
  require_test_device();
  const Scan scan;
  const Outcome outcome =
      scan.run({"--positions", "none", "--output", scan.folder / "m.ome.tif", "--report",
                scan.folder / "m.html", "--located", scan.folder / "m.csv"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(scan.rms() < promised_rms);
  CHECK_FALSE(contains(outcome.out, "stage"));
  json report = scan.report();
  CHECK(report["pairs"].size() >= 7);
  CHECK(report["stage"].is_null());
  CHECK(report["tiles"][0]["nominal"].is_null());
  CHECK(report["tiles"][0]["placed_by"] == "pairs");
  // A tile of another scene.
  save_image(scan.path(5), draw({}, scan_tile, 1, PixelType::u16, Affine::translation(3000, 5000)));
  const Outcome apart = scan.run({"--positions", "none"});
  CHECK(apart.status == 0);
  CHECK(contains(apart.out, "1 tile has no used pair and lies beside the others"));
  report = scan.report();
  CHECK(report["components"].size() == 2);
  CHECK(report["components"][1] == json::array({"t5.tif"}));
  CHECK(report["tiles"][5]["placed_by"] == "none");
  const auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"--positions", "none"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome wrong = scan.run(all);
    CAPTURE(wrong.err);
    CHECK(wrong.status == 2);
    CHECK(contains(wrong.err, options[0] + ": has no meaning with --positions none"));
  };
  refused({"--unit", "um", "--pixel-size", "1"});
  refused({"--exchange"});
  refused({"--reverse", "x"});
  refused({"--max-error", "20"});
}

TEST_CASE("mosaic takes CSV files of spreadsheets, and names a position that is far away") {
  require_test_device();
  const Scan scan;
  std::ofstream csv(scan.folder / "stage.csv");
  csv << "File;X;Y\n";
  for (std::size_t i = 0; i < 6; ++i) {
    csv << scan.names[i] << ";" << scan.nominal[i].x << ";" << scan.nominal[i].y << "\n";
  }
  csv.close();
  // The pairs are shared by two devices.
  const Outcome outcome =
      run_program({"mosaic", scan.folder / "scan", "--device", test_device() + "," + test_device(),
                   "--positions", scan.folder / "stage.csv", "--json", scan.folder / "m.json"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(scan.rms() < promised_rms);
  scan.write_positions();
  std::ofstream more(scan.folder / "stage.csv", std::ios::trunc);
  more << "file,x,y\nt0.tif,0,0\nt1.tif,124,0\nt2.tif,248,0\nt3.tif,1e8,0\n";
  more.close();
  const Outcome far = scan.run_positions({"--output", scan.folder / "m.ome.tif"});
  CHECK(far.status == 2);
  CHECK(contains(far.err, "t3.tif lies 99999752 pixels from the middle"));
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
  const Outcome folder = scan.run({"--positions", scan.folder / "scan"});
  CHECK(folder.status == 2);
  CHECK(contains(folder.err, "is a folder; name a file with positions"));
}

/// Writes tiles as pages of one TIFF file, the first with a description.
void write_pages(const std::string& path, const std::vector<LoadedImage>& pages,
                 const std::string& description) {
  TIFF* file = TIFFOpen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const LoadedImage& page = pages[i];
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(page.width));
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(page.height));
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (i == 0 && !description.empty()) {
      TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, description.c_str());
    }
    for (std::int64_t y = 0; y < page.height; ++y) {
      std::vector<std::byte> row(
          page.pixels.begin() + static_cast<std::ptrdiff_t>(page.row_bytes()) * y,
          page.pixels.begin() + static_cast<std::ptrdiff_t>(page.row_bytes()) * (y + 1));
      REQUIRE(TIFFWriteScanline(file, row.data(), static_cast<std::uint32_t>(y), 0) == 1);
    }
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

std::string ome_image(std::size_t i, const std::string& attributes, const std::string& planes) {
  return fmt::format(
      "<Image ID=\"Image:{0}\"><Pixels ID=\"Pixels:{0}\" DimensionOrder=\"XYCZT\" Type=\"uint16\" "
      "SizeX=\"160\" SizeY=\"160\" SizeC=\"1\" SizeZ=\"1\" SizeT=\"1\" {1}>{2}</Pixels></Image>",
      i, attributes, planes);
}

TEST_CASE("mosaic takes positions from OME metadata, of a folder or of one file") {
  require_test_device();
  const Scan scan;
  std::filesystem::create_directory(scan.folder / "ome");
  std::string all;
  std::vector<LoadedImage> pages;
  for (std::size_t i = 0; i < 6; ++i) {
    const LoadedImage page = load_image(scan.path(static_cast<int>(i)));
    // 0.5 um a pixel; the positions in millimetres, and in micrometres without a unit.
    const std::string size = "PhysicalSizeX=\"500\" PhysicalSizeXUnit=\"nm\" PhysicalSizeY=\"0.5\"";
    const std::string here = fmt::format(
        "<TiffData/><Plane TheZ=\"0\" TheT=\"0\" TheC=\"0\" PositionX=\"{}\" "
        "PositionXUnit=\"mm\" PositionY=\"{}\"/>",
        scan.nominal[i].x * 5e-4, scan.nominal[i].y * 0.5);
    write_pages(scan.folder / fmt::format("ome/o{}.ome.tif", i), {page},
                "<OME>" + ome_image(0, size, here) + "</OME>");
    const std::string in_file = fmt::format(
        "<TiffData IFD=\"{}\"/><Plane PositionX=\"{}\" PositionXUnit=\"pixel\" PositionY=\"{}\" "
        "PositionYUnit=\"pixel\"/>",
        i, scan.nominal[i].x, scan.nominal[i].y);
    all += ome_image(i, size, in_file);
    pages.push_back(page);
  }
  write_pages(scan.folder / "all.ome.tif", pages, "<OME>" + all + "</OME>");
  for (const std::string& source : {scan.folder / "ome", scan.folder / "all.ome.tif"}) {
    CAPTURE(source);
    const Outcome outcome = run_program(
        {"mosaic", source, "--device", test_device(), "--json", scan.folder / "m.json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(scan.rms() < promised_rms);
    CHECK(scan.report()["pixel_size_um"] == doctest::Approx(0.5));
  }
  CHECK(scan.report()["tiles"][4]["file"] == "all.ome.tif[4]");
  // The pages of a file, in a grid.
  write_pages(scan.folder / "plain.tif", pages, "");
  const Outcome grid =
      run_program({"mosaic", scan.folder / "plain.tif", "--device", test_device(), "--grid", "2x3",
                   "--overlap", "22.5", "--json", scan.folder / "m.json"});
  CAPTURE(grid.err);
  REQUIRE(grid.status == 0);
  CHECK(scan.rms() < promised_rms);

  const auto refused = [&](const std::string& source, const std::string& part) {
    const Outcome outcome = run_program({"mosaic", source, "--device", test_device()});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
  };
  refused(scan.folder / "scan", "t0.tif: has no OME metadata; give the positions with --positions");
  refused(scan.folder / "none", "none: does not exist; give the folder of the tiles");
  write_pages(scan.folder / "bad.ome.tif", pages,
              "<OME>" + ome_image(0, "", "<TiffData/>") + "</OME>");
  refused(scan.folder / "bad.ome.tif", "has no PositionX and PositionY");
  write_pages(
      scan.folder / "bad.ome.tif", pages,
      "<OME>" + ome_image(0, "", "<TiffData/><Plane PositionX=\"1\" PositionY=\"2\"/>") + "</OME>");
  refused(scan.folder / "bad.ome.tif", "no size of a pixel");
}

TEST_CASE("mosaic writes positions that it and other programs read") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  std::filesystem::create_directory(scan.folder / "out");
  const auto write = [&](const std::string& name) {
    const std::string file = scan.folder / ("out/" + name);
    const Outcome outcome = scan.run_positions({"--located", file, "--pixel-size", "0.65"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return read_text(file);
  };
  const std::string csv = write("m.csv");
  CHECK(csv.starts_with("file,x,y\nt0.tif,"));
  const json tiles = scan.report()["tiles"];
  const auto at = [&](std::size_t i, std::size_t axis) {
    return tiles[i]["matrix"][axis][2].get<double>();
  };
  CHECK(contains(csv, fmt::format("t4.tif,{:.6f},{:.6f}\n", at(4, 0), at(4, 1))));
  const std::string fiji = write("TileConfiguration.txt");
  CHECK(contains(fiji, "dim = 2\n"));
  CHECK(contains(fiji, fmt::format("../scan/t4.tif; ; ({:.6f}, {:.6f})\n", at(4, 0), at(4, 1))));
  const std::string xml = write("m.xml");
  CHECK(contains(xml, "<file type=\"relative\">../scan/t4.tif</file>"));
  CHECK(contains(xml, "<size>0.65 0.65 1.0</size>"));
  CHECK(contains(xml, fmt::format("<affine>1.0 0.0 0.0 {:.6f} 0.0 1.0 0.0 {:.6f} 0.0 0.0 1.0 0.0",
                                  at(4, 0), at(4, 1))));
  const std::string ome = write("m.companion.ome");
  CHECK(contains(ome, "<UUID FileName=\"../scan/t4.tif\">urn:uuid:"));
  CHECK(contains(ome, "Type=\"uint16\" SizeX=\"160\" SizeY=\"160\" SizeC=\"1\""));
  CHECK(contains(ome,
                 fmt::format("PositionX=\"{:.6f}\" PositionXUnit=\"\xc2\xb5m\"", 0.65 * at(4, 0))));
  // All but the project are positions again.
  // Fiji's and OME's files name tiles relative to themselves.
  for (const auto& [name, folder] : {std::pair{"m.csv", "scan"},
                                     {"TileConfiguration.txt", "out"},
                                     {"TileConfiguration.txt", "scan"},
                                     {"m.companion.ome", "scan"}}) {
    CAPTURE(name);
    const Outcome again =
        run_program({"mosaic", scan.folder / folder, "--device", test_device(), "--positions",
                     scan.folder / (std::string("out/") + name), "--json", scan.folder / "m.json"});
    CAPTURE(again.err);
    REQUIRE(again.status == 0);
    CHECK(scan.rms() < promised_rms);
  }
  const Outcome wrong = scan.run_positions({"--located", scan.folder / "m.json2"});
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "use a name that ends in .csv, .txt"));
}

TEST_CASE("mosaic refuses bad files of Fiji with the line") {
  const Scan scan;
  const auto refused = [&](const std::string& text, const std::string& part) {
    std::ofstream(scan.folder / "c.txt") << text;
    const Outcome outcome = scan.run({"--positions", scan.folder / "c.txt"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
  };
  refused("dim = 3\n", "line 1: has 3 dimensions");
  refused("# c\ndim = 2\nt0.tif, 3, 4\n", "line 3: is not of the form 'file; ; (x, y)'");
  refused("dim = 2\nt0.tif; ; (1, b)\n", "line 2: the position is not two finite numbers");
  refused("t0.tif; ; (1, 2)\nt0.tif; ; (3, 4)\n", "line 2: t0.tif is named twice");
}

TEST_CASE("mosaic writes a page with graph, residuals and what was left out") {
  require_test_device();
  const Scan scan;
  save_image(scan.path(1), make_image(scan_tile.width, scan_tile.height, 1, PixelType::u16));
  scan.write_positions();
  const Outcome outcome = scan.run_positions({"--report", scan.folder / "m.html"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const std::string page = read_text(scan.folder / "m.html");
  CHECK(contains(page, "</html>"));
  CHECK(contains(page, "<title>t0.tif and t3.tif: used, confidence "));
  CHECK(contains(page, "<td class=\"w\">t0.tif and t1.tif</td><td class=\"w\">failed</td>"));
  CHECK(contains(page, "placed by the stage model"));
  // The overview, the three pairs that were left out, and the four seams.
  std::size_t pictures = 0;
  for (std::size_t i = page.find("data:image/png"); i != std::string::npos;
       i = page.find("data:image/png", i + 1)) {
    ++pictures;
  }
  CHECK(pictures == 8);
}

TEST_CASE("mosaic takes exchanged axes when told so, and names overlaps that are smaller") {
  require_test_device();
  const Scan scan;
  std::ofstream csv(scan.folder / "stage.csv");
  csv << "file,x,y\n";
  for (std::size_t i = 0; i < 6; ++i) {
    csv << scan.names[i] << "," << -scan.nominal[i].y << "," << scan.nominal[i].x << "\n";
  }
  csv.close();
  const Outcome wrong = scan.run_positions();
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "with x and y exchanged, then the sign of y reversed"));
  CHECK(contains(wrong.err, "; add --exchange --reverse y\n"));
  const Outcome right = scan.run_positions({"--exchange", "--reverse", "y"});
  CAPTURE(right.err);
  CHECK(right.status == 0);
  CHECK(scan.rms() < promised_rms);
  // 45 % instead of 22.5 %: the true steps are 1.4 times as long.
  const Outcome overlap = scan.run({"--grid", "2x3", "--overlap", "45"});
  CAPTURE(overlap.err);
  CHECK(overlap.status == 2);
  CHECK(contains(overlap.err, "they would fit with --overlap 2"));
}

TEST_CASE("mosaic explains positions that do not fit") {
  require_test_device();
  const Scan scan;
  scan.write_positions(1, true);
  const Outcome exchanged = scan.run_positions();
  CHECK(exchanged.status == 2);
  CHECK(contains(exchanged.err, "with x and y exchanged"));
  scan.write_positions(0.65);
  const Outcome unit = scan.run_positions();
  CHECK(unit.status == 2);
  CHECK(contains(unit.err, "multiplied by 1.5"));
  CHECK(contains(unit.err, "add --unit um --pixel-size 0.6"));
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
}

TEST_CASE("mosaic refuses bad tiles by name, and leaves no output") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  const std::vector<std::string> output{"--output", scan.folder / "m.ome.tif"};
  const auto refused = [&](const std::string& part) {
    const Outcome outcome = scan.run_positions(output);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
  };
  const LoadedImage kept = load_image(scan.path(4));
  std::filesystem::remove(scan.path(4));
  refused("t4.tif: does not exist");
  save_image(scan.path(4), draw({}, {150, 160, 1}, 1, PixelType::u16, {}));
  refused("t4.tif: is 150 x 160, gray, 16 bit, but");
  save_image(scan.path(4), draw({}, scan_tile, 1, PixelType::u8, {}));
  refused("the tiles of a mosaic must be of one kind");
  save_image(scan.path(4), load_image(scan.path(3)));
  refused("is the same picture as");
  save_image(scan.path(4), kept);
  CHECK(scan.run_positions(output).status == 0);
}

TEST_CASE("mosaic refuses bad CSV files with the line") {
  const Scan scan;
  const auto refused = [&](const std::string& text, const std::string& part) {
    std::ofstream(scan.folder / "stage.csv") << text;
    const Outcome outcome = scan.run_positions();
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
  };
  refused("file,x\nt0.tif,1\n", "no column 'y'");
  refused("file,x,y\nt0.tif,1,2\nt1.tif,one,2\n", "line 3: x is 'one'");
  refused("file,x,y\nt0.tif,1,2\nt0.tif,3,4\n", "line 3: t0.tif is on line 2 already");
  refused("file,x,y\nt0.tif,1\n", "line 2 has 2 fields");
  refused("file,x,y\nt0.tif,1,2\n", "has 1 tile; a mosaic needs at least 2");
  refused("file,x,y\nt0.tif,1,2\nt1.tif,1,2\n", "t0.tif and t1.tif have the same position");
  refused("file,x,y\nt0.tif,0,0\n\"t1.tif\",nan,2\n", "line 3: x is 'nan'");
}

TEST_CASE("mosaic marks an empty tile, which follows the stage") {
  require_test_device();
  const Scan scan;
  save_image(scan.path(1), make_image(scan_tile.width, scan_tile.height, 1, PixelType::u16));
  scan.write_positions();
  const Outcome outcome = scan.run_positions();
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "1 tile has no used pair and follows the stage model"));
  const json report = scan.report();
  CHECK(report["tiles"][1]["placed_by"] == "stage");
  for (const json& pair : report["pairs"]) {
    const bool empty = pair["reference"] == "t1.tif" || pair["moving"] == "t1.tif";
    CHECK(pair["used"] == !empty);
    CHECK(pair["reason"].is_null() == !empty);
  }
}

TEST_CASE("the levels of a mosaic halve the picture") {
  require_test_device();
  const Scan scan(PixelType::u8);
  scan.write_positions();
  REQUIRE(scan.run_positions().status == 0);
  // Tiles of the scan are too small for levels: a wide pair of tiles is not.
  std::filesystem::create_directory(scan.folder / "wide");
  for (int i = 0; i < 2; ++i) {
    save_image(scan.folder / fmt::format("wide/w{}.png", i),
               draw({}, {900, 200, 1}, 1, PixelType::u8, Affine::translation(800.25 * i, 0)));
  }
  const std::string output = scan.folder / "wide.ome.tif";
  REQUIRE(run_program({"mosaic", scan.folder / "wide", "--device", test_device(), "--grid", "1x2",
                       "--overlap", "11", "--output", output})
              .status == 0);
  TIFF* file = TIFFOpen(output.c_str(), "r");
  REQUIRE(file != nullptr);
  std::uint16_t levels = 0;
  toff_t* offsets = nullptr;
  REQUIRE(TIFFGetField(file, TIFFTAG_SUBIFD, &levels, &offsets) == 1);
  CHECK(levels == 1);
  std::uint32_t width = 0;
  std::uint32_t half = 0;
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
  REQUIRE(TIFFSetSubDirectory(file, offsets[0]) == 1);
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &half);
  TIFFClose(file);
  CHECK(half == (width + 1) / 2);
}

}  // namespace
}  // namespace warpalign::test
