// `warpalign mosaic` of tiles that are volumes.
#include "io/npy.hpp"
#include "mosaic/drawn_volumes.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tiffio.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

void write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void write_pages(const std::string& path, const Shape& shape,
                 const std::vector<std::uint16_t>& voxels) {
  TIFF* file = TIFFOpen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(shape.width));
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(shape.height));
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(shape.height));
    std::vector<std::uint16_t> plane(voxels.begin() + z * shape.plane(),
                                     voxels.begin() + (z + 1) * shape.plane());
    TIFFWriteEncodedStrip(file, 0, plane.data(),
                          static_cast<tmsize_t>(plane.size() * sizeof(std::uint16_t)));
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

/// Four tiles, 2 layers of 2, as .npy and as TIFF.
struct Blocks {
  ScratchFolder folder;
  ::test::DrawnVolumes drawn{{.layers = 2, .rows = 1, .columns = 2, .seed = 4}};

  Blocks() {
    std::filesystem::create_directory(folder / "blocks");
    for (std::size_t i = 0; i < drawn.tiles.size(); ++i) {
      write_npy_tile(i, i);
      write_pages(folder / fmt::format("blocks/t{}.tif", i), drawn.shape, drawn.voxels[i]);
    }
    write_csv("npy", "file,x,y,z");
    write_csv("tif", "file,x,y,z");
  }
  void write_npy_tile(std::size_t i, std::size_t content) const {
    const Shape& shape = drawn.shape;
    Array array = make_array({shape.depth, shape.height, shape.width}, PixelType::u16);
    std::memcpy(array.bytes.data(), drawn.voxels[content].data(), array.bytes.size());
    write_bytes(folder / fmt::format("blocks/t{}.npy", i), write_npy(array));
  }
  void write_csv(const std::string& kind, const std::string& header) const {
    std::ofstream csv(folder / (kind + ".csv"));
    csv << header << "\n";
    for (std::size_t i = 0; i < drawn.tiles.size(); ++i) {
      const Point3& p = drawn.tiles[i].position;
      csv << fmt::format("t{}.{},{},{}", i, kind, p.x, p.y);
      if (header.ends_with("z")) csv << "," << p.z;
      csv << "\n";
    }
  }
  [[nodiscard]] Outcome run(const std::string& kind, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"mosaic", folder / "blocks", "--device", test_device(),
                                     "--positions", folder / (kind + ".csv")});
    return run_program(options);
  }
  [[nodiscard]] std::vector<Point3> positions(const json& report) const {
    std::vector<Point3> found;
    for (const json& tile : report["tiles"]) {
      const json& m = tile["matrix"];
      found.push_back({m[0][3], m[1][3], m[2][3]});
    }
    return found;
  }
  [[nodiscard]] double rms(const json& report) const {
    VolumeMosaic mosaic;
    for (const Point3& p : positions(report)) mosaic.tiles.push_back({p, 0, 1});
    double sum = 0;
    for (const double error : ::test::position_errors(mosaic, drawn.truth)) sum += error * error;
    return std::sqrt(sum / static_cast<double>(drawn.truth.size()));
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("mosaic locates and joins volumes") {
  require_test_device();
  const Blocks blocks;
  const std::string json_file = blocks.folder / "m.json";
  const Outcome outcome =
      blocks.run("npy", {"--json", json_file, "--output", blocks.folder / "m.npy"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(has(outcome.out, "4 of 4 used"));
  const json report = json::parse(read_text(json_file));
  CHECK(blocks.rms(report) < 0.05);  // what users are promised, in voxels
  CHECK(report["tiles"][3]["file"] == "t3.npy");
  CHECK(report["tiles"][3]["placed_by"] == "pairs");
  CHECK(report["tiles"][3]["matrix"][2][2] == 1);
  CHECK(report["pairs"][0]["shift"].size() == 3);
  CHECK(report["stage"]["matrix"].size() == 3);
  const Array volume = load_npy(blocks.folder / "m.npy");
  CHECK(volume.type == PixelType::u16);
  CHECK(volume.extents ==
        std::vector<std::int64_t>{report["depth"], report["height"], report["width"]});

  // The pages of TIFF files are the same tiles, and NIfTI has the same voxels.
  const Outcome pages =
      blocks.run("tif", {"--json", json_file, "--output", blocks.folder / "m.nii"});
  CAPTURE(pages.err);
  REQUIRE(pages.status == 0);
  CHECK(json::parse(read_text(json_file))["pairs"][0]["shift"] == report["pairs"][0]["shift"]);
  const std::string nifti = read_text(blocks.folder / "m.nii");
  constexpr std::size_t header = 352;
  REQUIRE(nifti.size() == header + volume.bytes.size());
  CHECK(std::memcmp(nifti.data() + header, volume.bytes.data(), volume.bytes.size()) == 0);
}

TEST_CASE("mosaic says what is wrong with volumes") {
  const Blocks blocks;
  const auto refused = [&](const std::string& kind, const std::vector<std::string>& options,
                           const std::string& message) {
    const Outcome outcome = blocks.run(kind, options);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(has(outcome.err, message));
    CHECK_FALSE(std::filesystem::exists(blocks.folder / "m.json"));
  };
  const std::vector<std::string> json_option{"--json", blocks.folder / "m.json"};
  refused("npy", {"--output", blocks.folder / "m.ome.tif"}, "is written as .nii or .npy");
  for (const char* option : {"--no-distortion", "--resume", "--skip-bad-tiles", "--exchange"}) {
    refused("npy", {option, "--json", blocks.folder / "m.json"},
            fmt::format("{}: serves mosaics of images", option));
  }
  refused("npy", {"--max-error", "0", "--json", blocks.folder / "m.json"}, "must be above 0");
  refused("npy", {"--output", blocks.folder / "blocks/t1.npy"}, "t1.npy");
  blocks.write_npy_tile(2, 1);
  refused("npy", json_option, "t2.npy: is the same volume as");
  std::filesystem::remove(blocks.folder / "blocks/t2.npy");
  refused("npy", json_option, "t2.npy: does not exist");
  blocks.write_csv("npy", "file,x,y");
  refused("npy", json_option, "has no column z, but");
}

}  // namespace
}  // namespace warpalign::test
