// `template`, on images and volumes that are drawn with known fields.
#include "io/image_file.hpp"
#include "io/nifti.hpp"
#include "io/transform_file.hpp"
#include "io/volume_axes.hpp"
#include "io/volume_file.hpp"
#include "program/arrays.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape template_shape{170, 160, 1};

/// A wave of up to 2.5 pixels along x and y.
Point bend_at(const Point& p) {
  const double wave = 2 * std::numbers::pi / 120;
  return {2.5 * std::sin(wave * p.y), 2 * std::cos(wave * p.x)};
}

/// The texture at p + share u(p).
LoadedImage bent_image(double share, std::uint32_t seed = 1) {
  LoadedImage image = make_image(template_shape.width, template_shape.height, 1, PixelType::u16);
  const Texture texture{seed};
  for (std::int64_t y = 0; y < template_shape.height; ++y) {
    for (std::int64_t x = 0; x < template_shape.width; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point u = bend_at(p);
      image.samples<std::uint16_t>()[static_cast<std::size_t>(y * template_shape.width + x)] =
          static_cast<std::uint16_t>(65535 * texture({p.x + share * u.x, p.y + share * u.y}));
    }
  }
  return image;
}

/// Three images whose fields have the mean 0, and one of another scene.
struct BentImages {
  ScratchFolder folder;
  std::vector<std::string> names;
  std::string other = folder / "other.png";

  BentImages() {
    for (const double share : {1.0, 0.0, -1.0}) {
      names.push_back(folder / ("s" + std::to_string(names.size()) + ".png"));
      save_image(names.back(), bent_image(share));
    }
    save_image(other, bent_image(0, 99));
  }

  [[nodiscard]] Outcome run(std::vector<std::string> images,
                            const std::vector<std::string>& options) const {
    images.insert(images.begin(), "template");
    images.insert(images.end(), options.begin(), options.end());
    images.insert(images.end(), {"--device", test_device()});
    return run_program(images);
  }
};

/// The root mean square distance of a transform from p - share u(p), away from the edges.
double bend_error(const Transform& transform, double share) {
  double squares = 0;
  double count = 0;
  for (std::int64_t y = 14; y < template_shape.height - 14; y += 2) {
    for (std::int64_t x = 14; x < template_shape.width - 14; x += 2, ++count) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point u = bend_at(p);
      const Point q = transform(p);
      squares += std::pow(q.x - p.x + share * u.x, 2) + std::pow(q.y - p.y + share * u.y, 2);
    }
  }
  return std::sqrt(squares / count);
}

/// Blobs at the places of a grid, moved by a shift: a volume without a symmetry.
Array blob_volume(const Shape& shape, const Point3& shift) {
  Array volume = make_array({shape.depth, shape.height, shape.width}, PixelType::f32);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x, ++i) {
        const double u = static_cast<double>(x) - shift.x;
        const double v = static_cast<double>(y) - shift.y;
        const double w = static_cast<double>(z) - shift.z;
        volume.samples<float>()[i] = static_cast<float>(
            std::sin(0.55 * u + 0.013 * v * v) + std::cos(0.5 * v - 0.017 * w * w + 0.3 * u) +
            std::sin(0.6 * w + 0.011 * u * u));
      }
    }
  }
  return volume;
}

/// Writes NIfTI whose header gives positions, with the x axis from left to right or back.
void save_oriented(const std::string& path, const Array& volume, bool is_reversed) {
  NiftiHeader header = plain_nifti_header({0.8, 0.8, 1});
  const NiftiLayout& layout = header.layout();
  header.set_integer(layout.sform_code, layout.code_bytes, 1);
  const std::array spacing{is_reversed ? -0.8 : 0.8, 0.8, 1.0};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.set_real(layout.srow + (4 * axis + axis) * layout.real_bytes, spacing[axis]);
  }
  const auto bytes = write_nifti(volume, header, true);
  write_bytes(path, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// The largest absolute value of the mean displacement of transforms, away from the edges.
double largest_mean(const std::vector<Transform>& transforms, const std::vector<Point3>& points) {
  double largest = 0;
  for (const Point3& p : points) {
    Point3 sum;
    for (const Transform& transform : transforms) {
      const Point3 q = transform(p);
      sum = {sum.x + q.x - p.x, sum.y + q.y - p.y, sum.z + q.z - p.z};
    }
    for (const double component : {sum.x, sum.y, sum.z}) {
      largest = std::max(largest, std::abs(component) / static_cast<double>(transforms.size()));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("template: the mean shape of images, with their transforms and a sheet") {
  require_test_device();
  const BentImages bent;
  const ScratchFolder& folder = bent.folder;
  const Outcome outcome = bent.run(
      bent.names, {"--output", folder / "mean.tif", "--rounds", "2", "--json", "--transforms",
                   folder / "transforms", "--sheet", folder / "sheet.png"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["status"] == "ok");
  CHECK(report["motion"] == "deformable");
  CHECK(report["modality"] == "same");
  CHECK(report["shape"] == json::array({template_shape.width, template_shape.height}));
  REQUIRE(report["changes"].size() == 2);
  CHECK(report["changes"][1].get<double>() < 0.2 * report["changes"][0].get<double>());
  REQUIRE(report["images"].size() == 3);
  const std::array shares{1.0, 0.0, -1.0};
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    const json& image = report["images"][i];
    CHECK(image["file"] == bent.names[i]);
    CHECK(image["used"] == true);
    CHECK(image["confidence"].get<double>() > 0.5);
    const std::string name = image["transform"];
    CHECK(name == folder / ("transforms/" + std::to_string(i) + "-s" + std::to_string(i) + ".npz"));
    const auto file = load_transforms(name, std::nullopt, {});
    REQUIRE(file.transforms.size() == 1);
    // To first order, image i has at p - share u(p) what the mean shape has at p. The second order
    // is u times its slope, 0.13: up to 0.3 pixels, where fields are up to 2.5.
    CHECK(bend_error(file.transforms[0], shares[i]) < 0.3);
  }
  CHECK(bend_error(Transform::translation(Point{}), 1) > 1.5);

  const LoadedImage mean = load_image(folder / "mean.tif");
  CHECK(mean.shape() == template_shape);
  CHECK(mean.type == PixelType::f32);
  // The second image has no field, and is nearly the mean shape. 65535 is white.
  const LoadedImage middle = bent_image(0);
  double difference = 0;
  double count = 0;
  for (std::int64_t y = 20; y < template_shape.height - 20; ++y) {
    for (std::int64_t x = 20; x < template_shape.width - 20; ++x, ++count) {
      const auto i = static_cast<std::size_t>(y * template_shape.width + x);
      difference += std::abs(static_cast<double>(mean.samples<float>()[i]) -
                             static_cast<double>(middle.samples<std::uint16_t>()[i]));
    }
  }
  CHECK(difference / count < 0.03 * 65535);
  const LoadedImage sheet = load_image(folder / "sheet.png");
  CHECK(sheet.width >
        4 * template_shape.width);  // three images and their mean; below, the template
  CHECK(sheet.height > 2 * template_shape.height);

  // The transforms carry images to the template.
  const Outcome applied =
      run_program({"transform", "apply", folder / "transforms/0-s0.npz", bent.names[0],
                   folder / "laid.npy", "--device", test_device()});
  CAPTURE(applied.err);
  REQUIRE(applied.status == 0);
  const Array laid = load_npy(folder / "laid.npy");
  const auto centre = static_cast<std::size_t>(80 * template_shape.width + 85);
  CHECK(std::abs(static_cast<double>(laid.samples<std::uint16_t>()[centre]) -
                 static_cast<double>(mean.samples<float>()[centre])) < 0.05 * 65535);
}

TEST_CASE("template: an image of another scene is left out, and two such give none") {
  require_test_device();
  const BentImages bent;
  const ScratchFolder& folder = bent.folder;
  const Outcome outcome =
      bent.run({bent.names[0], bent.other, bent.names[1]},
               {"--output", folder / "mean.npy", "--rounds", "1", "--motion", "affine",
                "--transforms", folder / "transforms", "--sheet", folder / "sheet.png"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(outcome.out.starts_with("Template of 2 of 3 images"));
  CHECK(outcome.out.find("left out") != std::string::npos);
  CHECK(outcome.out.find(bent.other + ": confidence") != std::string::npos);
  CHECK(load_npy(folder / "mean.npy").extents ==
        std::vector<std::int64_t>{template_shape.height, template_shape.width});
  CHECK(std::filesystem::exists(folder / "transforms/0-s0.npz"));
  CHECK_FALSE(std::filesystem::exists(folder / "transforms/1-other.npz"));
  CHECK(std::filesystem::exists(folder / "transforms/2-s1.npz"));

  const Outcome none = bent.run(
      {bent.names[0], bent.other},
      {"--output", folder / "none.tif", "--json", "--transforms", folder / "no", "--rounds", "1"});
  CHECK(none.status == 1);
  CHECK(none.err.find("no template: only 1 of 2 images register reliably") != std::string::npos);
  CHECK(json::parse(none.out)["status"] == "unreliable");
  CHECK_FALSE(std::filesystem::exists(folder / "none.tif"));
  CHECK_FALSE(std::filesystem::exists(folder / "no"));
}

TEST_CASE(
    "template: volumes of NIfTI keep their header, and mirrored axes are brought to one order") {
  require_test_device();
  const ScratchFolder folder;
  const Shape shape{30, 26, 24};
  std::vector<std::string> names;
  for (const double shift : {-1.5, 0.0, 1.5}) {
    names.push_back(folder / ("v" + std::to_string(names.size()) + ".nii.gz"));
    Array volume = blob_volume(shape, {shift, -shift, 0.5 * shift});
    // The last one is stored from right to left, and its header says so.
    const bool is_reversed = names.size() == 3;
    if (is_reversed) volume = reordered(volume, {{0, 1, 2}, {true, false, false}});
    save_oriented(names.back(), volume, is_reversed);
  }
  std::vector<std::string> arguments{"template"};
  arguments.insert(arguments.end(), names.begin(), names.end());
  arguments.insert(arguments.end(),
                   {"--output", folder / "mean.nii.gz", "--motion", "rigid", "--max-rotation", "20",
                    "--rounds", "2", "--transforms", folder / "transforms", "--sheet",
                    folder / "sheet.png", "--device", test_device()});
  const Outcome outcome = run_program(arguments);
  CAPTURE(outcome.err);
  CAPTURE(outcome.out);
  REQUIRE(outcome.status == 0);
  const VolumeFile mean = load_volume(folder / "mean.nii.gz");
  CHECK(mean.voxels.shape() == shape);
  CHECK(mean.voxels.type == PixelType::f32);
  REQUIRE(mean.spacing);
  CHECK((*mean.spacing)[0] == doctest::Approx(0.8));
  REQUIRE(mean.index_to_world);
  CHECK(load_image(folder / "sheet.png").channels == 1);

  // The mean of the transforms is the identity, in the order of the template's axes.
  std::vector<Transform> transforms;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = std::to_string(i) + "-v" + std::to_string(i) + ".npz";
    const auto file = load_transforms(folder / ("transforms/" + name), std::nullopt, {});
    CHECK(file.geometry.reference.has_value());
    CHECK(file.geometry.moving.has_value());
    transforms.push_back(file.transforms.at(0));
  }
  const Point3 centre{14.5, 12.5, 11.5};
  // Of the second volume, which has no shift: the template has its shape.
  const Point3 second = transforms[1](centre);
  CHECK(std::abs(second.x - 14.5) < 0.1);
  CHECK(std::abs(second.z - 11.5) < 0.1);
  // The third is stored reversed: index 29 - (x + 1.5).
  const Point3 third = transforms[2](centre);
  CHECK(std::abs(third.x - (29 - 16)) < 0.1);
  CHECK(std::abs(third.y - (12.5 - 1.5)) < 0.1);
  const auto back = Transform::of_matrix(
      TransformKind::affine, 3, HomogeneousMatrix::affine3({-1, 0, 0, 29, 0, 1, 0, 0, 0, 0, 1, 0}));
  transforms[2] = back * transforms[2];
  CHECK(largest_mean(transforms, {centre, {8, 8, 8}, {22, 18, 15}}) < 0.03);

  // Voxels of other sizes are refused before anything is written.
  const std::string other = folder / "other.nii";
  write_bytes(other, [&] {
    const auto bytes =
        write_nifti(blob_volume(shape, {}), plain_nifti_header({0.8, 0.8, 2}), false);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }());
  check_refused(run_program({"template", names[0], other, "--output", folder / "no.nii"}), 2,
                {other, "0.8 x 0.8 x 2", "--spacing"});
  CHECK_FALSE(std::filesystem::exists(folder / "no.nii"));
}

TEST_CASE("template: arrays are volumes, with an initial one and --spacing") {
  require_test_device();
  const ScratchFolder folder;
  save_npy(folder / "a.npy", blob_volume({26, 24, 22}, {1, 0, 0}));
  save_npy(folder / "b.npy", blob_volume({24, 24, 24}, {-1, 0, 0}));
  save_npy(folder / "start.npy", blob_volume({28, 26, 24}, {0, 0, 0}));
  const Outcome outcome =
      run_program({"template", folder / "a.npy", folder / "b.npy", "--initial",
                   folder / "start.npy", "--spacing", "2,1,1", "--max-rotation", "10", "--rounds",
                   "1", "--output", folder / "mean.npy", "--device", test_device()});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.starts_with("Template of 2 of 2 volumes"));
  CHECK(load_npy(folder / "mean.npy").extents == std::vector<std::int64_t>{24, 26, 28});
}

TEST_CASE("template: pixels that --masks and --nodata exclude are as good as missing") {
  require_test_device();
  const BentImages bent;
  const ScratchFolder& folder = bent.folder;
  constexpr std::uint16_t nodata = 0;
  const std::array shares{1.0, 0.0, -1.0};
  std::vector<std::string> spoilt, holed;
  for (int i = 0; i < 3; ++i) {
    LoadedImage image = bent_image(shares[static_cast<std::size_t>(i)]);
    LoadedImage missing = make_image(image.width, image.height, 1, PixelType::f32);
    LoadedImage mask = make_image(image.width, image.height, 1, PixelType::u8);
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (std::int64_t x = 0; x < image.width; ++x) {
        const auto at = static_cast<std::size_t>(y * image.width + x);
        // Two discs at other places in each image: one is masked, the other has no data.
        const bool is_masked = std::hypot(x - 40 - 40 * i, y - 50) < 12;
        const bool has_no_data = std::hypot(x - 40 - 40 * i, y - 110) < 12;
        std::uint16_t& pixel = image.samples<std::uint16_t>()[at];
        pixel = std::max<std::uint16_t>(pixel, 1);
        const bool is_missing = is_masked || has_no_data;
        missing.samples<float>()[at] =
            is_missing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(pixel);
        mask.samples<std::uint8_t>()[at] = is_masked ? 0 : 255;
        if (is_masked) pixel = 65535;
        if (has_no_data) pixel = nodata;
      }
    }
    const std::string number = std::to_string(i);
    save_image(spoilt.emplace_back(folder / ("spoilt" + number + ".png")), image);
    save_image(holed.emplace_back(folder / ("holed" + number + ".tif")), missing);
    save_image(folder / ("mask" + number + ".png"), mask);
  }
  const auto options = [&](const std::string& name) {
    return std::vector<std::string>{
        "--output", folder / (name + ".npy"), "--transforms", folder / (name + "-transforms"),
        "--sheet",  folder / (name + ".png"), "--rounds",     "1",
        "--json"};
  };
  std::vector<std::string> with_masks = options("masked");
  with_masks.insert(with_masks.end(), {"--masks", folder / "mask*.png", "--nodata", "0"});
  const Outcome masked = bent.run(spoilt, with_masks);
  CAPTURE(masked.err);
  REQUIRE(masked.status == 0);
  const Outcome missing = bent.run(holed, options("missing"));
  CAPTURE(missing.err);
  REQUIRE(missing.status == 0);
  const json report = json::parse(masked.out);
  const json of_missing = json::parse(missing.out);
  CHECK(report["changes"] == of_missing["changes"]);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(report["images"][i]["mask"] == folder / ("mask" + std::to_string(i) + ".png"));
    CHECK(of_missing["images"][i]["mask"].is_null());
    CHECK(report["images"][i]["confidence"] == of_missing["images"][i]["confidence"]);
    CHECK(std::filesystem::exists(report["images"][i]["transform"].get<std::string>()));
  }
  CHECK(read_text(folder / "masked.npy") == read_text(folder / "missing.npy"));
  CHECK(load_image(folder / "masked.png").pixels == load_image(folder / "missing.png").pixels);

  // Nor do the discs change the mean: of the three images, two know each pixel.
  const Outcome clean = bent.run(bent.names, options("clean"));
  REQUIRE(clean.status == 0);
  const Array expected = load_npy(folder / "clean.npy");
  const Array found = load_npy(folder / "masked.npy");
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < found.samples<float>().size(); ++i) {
    const float difference = found.samples<float>()[i] - expected.samples<float>()[i];
    if (!std::isfinite(difference)) continue;
    squares += std::pow(static_cast<double>(difference), 2);
    count += 1;
  }
  CHECK(count > 0.95 * static_cast<double>(template_shape.pixels()));
  // A disc is 2 % of the image, and 65535 is far from its values: it would add 3 % to the rms.
  CHECK(std::sqrt(squares / count) < 0.01 * 65535);
}

TEST_CASE("template: masks of volumes follow their axes, and --nodata is for --initial, too") {
  require_test_device();
  const ScratchFolder folder;
  const Shape shape{30, 26, 24};
  constexpr float nodata = -100;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::string> spoilt, masks, holed;
  const auto is_near = [](std::int64_t x, std::int64_t y, std::int64_t z, const Point3& p) {
    return std::hypot(static_cast<double>(x) - p.x, static_cast<double>(y) - p.y,
                      static_cast<double>(z) - p.z) < 4;
  };
  for (int i = 0; i < 3; ++i) {
    Array volume = blob_volume(shape, {i - 1.0, 0, 1.0 - i});
    Array missing = volume;
    Array mask = make_array(volume.extents, PixelType::u8);
    std::size_t at = 0;
    for (std::int64_t z = 0; z < shape.depth; ++z) {
      for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x, ++at) {
          const bool is_masked = is_near(x, y, z, {8.0 + 2 * i, 8, 12});
          const bool has_no_data = is_near(x, y, z, {20, 18, 8.0 + 4 * i});
          if (is_masked || has_no_data) missing.samples<float>()[at] = nan;
          if (is_masked) volume.samples<float>()[at] = 50;
          if (has_no_data) volume.samples<float>()[at] = nodata;
          mask.samples<std::uint8_t>()[at] = is_masked ? 0 : 1;
        }
      }
    }
    // The last one is stored from right to left, with its mask.
    const bool is_reversed = i == 2;
    for (Array* array : {&volume, &missing, &mask}) {
      if (is_reversed) *array = reordered(*array, {{0, 1, 2}, {true, false, false}});
    }
    const std::string number = std::to_string(i) + ".nii.gz";
    save_oriented(spoilt.emplace_back(folder / ("v" + number)), volume, is_reversed);
    save_oriented(holed.emplace_back(folder / ("h" + number)), missing, is_reversed);
    save_oriented(masks.emplace_back(folder / ("m" + number)), mask, is_reversed);
  }
  Array start = blob_volume(shape, {});
  for (std::size_t i = 5000; i < 5400; ++i) start.samples<float>()[i] = nan;
  save_oriented(folder / "start-nan.nii.gz", start, false);
  for (std::size_t i = 5000; i < 5400; ++i) start.samples<float>()[i] = nodata;
  save_oriented(folder / "start.nii.gz", start, false);

  const auto build = [&](std::vector<std::string> arguments, const std::string& name) {
    arguments.insert(arguments.begin(), "template");
    arguments.insert(arguments.end(), {"--output", folder / (name + ".npy"), "--motion", "rigid",
                                       "--max-rotation", "20", "--rounds", "1", "--sheet",
                                       folder / (name + ".png"), "--device", test_device()});
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
  };
  std::vector<std::string> with_masks = spoilt;
  with_masks.insert(with_masks.end(), {"--nodata", "-100", "--initial", folder / "start.nii.gz"});
  with_masks.push_back("--masks");
  with_masks.insert(with_masks.end(), masks.begin(), masks.end());
  build(with_masks, "masked");
  holed.insert(holed.end(), {"--initial", folder / "start-nan.nii.gz"});
  build(holed, "missing");
  CHECK(read_text(folder / "masked.npy") == read_text(folder / "missing.npy"));
  CHECK(load_image(folder / "masked.png").pixels == load_image(folder / "missing.png").pixels);
}

TEST_CASE("template: wrong input is refused before a device is opened, and nothing is written") {
  const BentImages bent;
  const ScratchFolder& folder = bent.folder;
  const std::string a = bent.names[0];
  const std::string b = bent.names[1];
  const std::string volume = folder / "v.npy";
  save_npy(volume, random_array({20, 20, 20}, PixelType::f32));
  save_image(folder / "small.png", draw({}, {15, 40, 1}, 1, PixelType::u8));
  save_image(folder / "zero.png",
             make_image(template_shape.width, template_shape.height, 1, PixelType::u8));
  save_image(folder / "mask.png", draw({}, template_shape, 1, PixelType::u8));
  save_image(folder / "flat.png", make_image(64, 64, 1, PixelType::u16));
  const std::string flat_volume = folder / "flat.npy";
  save_npy(flat_volume, random_array({19, 20, 20}, PixelType::f32));
  const std::string out = folder / "out.tif";
  const auto before = folder.names();
  const auto refused = [&](std::vector<std::string> arguments,
                           const std::vector<std::string>& words) {
    arguments.insert(arguments.begin(), "template");
    arguments.insert(arguments.end(), {"--device", "opencl:99"});
    CAPTURE(words.front());
    check_refused(run_program(arguments), 2, words);
  };
  refused({a, "--output", out}, {"at least 2 images"});
  refused({a, b}, {"--output"});
  refused({a, b, "--output", a}, {"--output", "is the same file as"});
  refused({a, b, "--output", out, "--initial", out}, {"is the same file as"});
  refused({a, b, "--output", folder / "out.png"}, {"out.png"});
  refused({a, b, "--output", folder / "out.nii"}, {"out.nii"});
  refused({a, b, "--output", out, "--sheet", folder / "s.tif"}, {"--sheet", ".png"});
  refused({a, b, "--output", out, "--motion", "homography"},
          {"'homography' for --motion", "rigid, similarity, affine, deformable"});
  refused({a, b, "--output", out, "--rounds", "0"}, {"--rounds 0", "1 to 100"});
  refused({a, b, "--output", out, "--modality", "none"}, {"'none' for --modality"});
  refused({a, b, "--output", out, "--motion", "rigid", "--grid-spacing", "6"},
          {"--grid-spacing: is for --motion deformable"});
  refused({a, b, "--output", out, "--bending-weight", "1000"}, {"--bending-weight 1000"});
  refused({a, b, "--output", out, "--spacing", "1,1,1"}, {"--spacing: is for volumes"});
  refused({a, b, "--output", out, "--max-rotation", "9"}, {"--max-rotation: is for volumes"});
  refused({a, volume, "--output", out}, {volume + ": is a volume, but", "is an image"});
  refused({volume, a, "--output", folder / "out.npy"}, {a + ": is no volume"});
  refused({volume, volume, "--output", out}, {"--output", ".nii.gz"});
  refused({volume, volume, "--output", folder / "o.npy", "--grid-spacing", "30"},
          {"--grid-spacing 30", "2 mm"});
  refused({volume, volume, "--output", folder / "o.npy", "--spacing", "1,-1,1"}, {"--spacing"});
  refused({volume, volume, "--output", folder / "o.npy", "--max-rotation", "200"},
          {"--max-rotation 200"});
  refused({a, folder / "small.png", "--output", out}, {"small.png", "15 x 40", "at least 16"});
  refused({a, folder / "none.png", "--output", out}, {"none.png"});
  refused({a, b, "--output", out, "--transforms", a}, {a});
  const std::string mask = folder / "mask.png";
  refused({a, b, "--output", out, "--masks", mask},
          {"--masks: names 1 file, but there are 2 images", "one mask for each image"});
  refused({a, b, "--output", out, "--masks", mask, mask, mask}, {"names 3 files"});
  refused({a, b, "--output", mask, "--masks", mask, mask}, {"--output", "is the same file as"});
  refused({a, b, "--output", out, "--masks", mask, folder / "small.png"},
          {"small.png: is 15 x 40, but " + b + " is 170 x 160"});
  refused({a, b, "--output", out, "--masks", mask, folder / "zero.png"},
          {"zero.png: is 0 everywhere, which excludes every pixel"});
  refused({a, b, "--output", out, "--masks", mask, folder / "none.png"}, {"none.png"});
  refused({a, b, "--output", out, "--nodata", "-1"}, {"--nodata -1", "u16"});
  refused({a, b, "--output", out, "--nodata", ""}, {"--nodata"});
  refused({folder / "flat.png", b, "--output", out, "--nodata", "0"},
          {"flat.png: there is nothing in it to register; all of it is missing or masked"});
  refused({volume, volume, "--output", folder / "o.npy", "--masks", volume, a}, {a});
  refused({volume, volume, "--output", folder / "o.npy", "--masks", volume, flat_volume},
          {flat_volume + ": is 20 x 20 x 19"});
  CHECK(folder.names() == before);

  // Whether an image is constant is known once the device is open.
  require_test_device();
  check_refused(bent.run({a, folder / "flat.png"}, {"--output", out}), 2,
                {"flat.png: is constant"});
  CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace warpalign::test
