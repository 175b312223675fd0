// `warpalign register-volume` on rotated volumes, in .npy and NIfTI files, end to end.
#include "io/nifti.hpp"
#include "io/volume_axes.hpp"
#include "io/volume_file.hpp"
#include "program/arrays.hpp"

#include "support/compare.hpp"
#include "support/rotated_volumes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

/// Voxels of 1.2 x 1 x 2 mm, rotated by 25 degrees.
::test::RotatedPairSpec turned() {
  ::test::RotatedPairSpec spec;
  spec.reference = {40, 44, 24};
  spec.moving = {40, 44, 24};
  spec.reference_spacing = spec.moving_spacing = {1.2, 1, 2};
  spec.transform = ::test::turn({1, 2, 0.5}, 25, {1, -2, 1.5});
  spec.blob_sigma = 2;
  return spec;
}

void write_bytes(const std::string& name, const std::vector<std::byte>& bytes) {
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// A pair in a folder, as NIfTI and as .npy.
struct Pair {
  ScratchFolder folder;
  ::test::RotatedPairSpec spec = turned();
  Array reference, moving;

  Pair() {
    const auto drawn = ::test::draw_rotated_pair(spec);
    reference = array_of({24, 44, 40}, drawn.reference);
    moving = array_of({24, 44, 40}, drawn.moving);
    const NiftiHeader header = plain_nifti_header({1.2, 1, 2});
    save_npy(folder / "reference.npy", reference);
    save_npy(folder / "moving.npy", moving);
    write_bytes(folder / "reference.nii.gz", write_nifti(reference, header, true));
    write_bytes(folder / "moving.nii", write_nifti(moving, header, false));
  }

  [[nodiscard]] Outcome run(const std::string& first, const std::string& second,
                            const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"register-volume", folder / first, folder / second,
                                       "--device", test_device()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
};

std::array<double, 16> matrix_of(const json& report) {
  std::array<double, 16> matrix{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      matrix[4 * row + column] = report["matrix"][row][column];
    }
  }
  matrix[15] = 1;
  return matrix;
}

TEST_CASE(
    "register-volume --motion rigid: NIfTI's voxel sizes, the report and the aligned volume") {
  require_test_device();
  const Pair pair;
  const std::string aligned = pair.folder / "aligned.nii.gz";
  const Outcome outcome =
      pair.run("reference.nii.gz", "moving.nii",
               {"--motion", "rigid", "--max-rotation", "40", "--json", "--output", aligned});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["motion"] == "rigid");
  CHECK(report["modality"] == "same");
  // The smallest blobs have a sigma of one voxel along z, which the cubic spline interpolates to
  // hundredths.
  CHECK(::test::corner_error(pair.spec, matrix_of(report)) <= 0.05);
  CHECK(report["rotation_deg"].get<double>() == doctest::Approx(25).epsilon(0.002));
  CHECK(report["rotation_axis"][1].get<double>() == doctest::Approx(0.873).epsilon(0.005));
  CHECK(report["scale"].get<double>() == doctest::Approx(1).epsilon(1e-9));
  CHECK(report["refined"] == true);
  const VolumeFile written = load_volume(aligned);
  CHECK(written.spacing == load_volume(pair.folder / "reference.nii.gz").spacing);
  REQUIRE(written.voxels.extents == pair.reference.extents);
  const auto a = written.voxels.samples<float>();
  const auto r = pair.reference.samples<float>();
  ::test::WorstError worst;
  for (std::size_t z = 8; z < 16; ++z) {
    for (std::size_t y = 14; y < 30; ++y) {
      for (std::size_t x = 13; x < 27; ++x) {
        const std::size_t i = (z * 44 + y) * 40 + x;
        worst.add(std::abs(a[i] - r[i]));
      }
    }
  }
  // The cubic spline's error for blobs of one voxel, whose heights are up to a half each.
  CHECK(worst.value() <= 0.05);
}

TEST_CASE("register-volume --motion rigid: .npy with --spacing gives the same") {
  require_test_device();
  const Pair pair;
  const Outcome outcome =
      pair.run("reference.npy", "moving.npy",
               {"--motion", "rigid", "--max-rotation", "40", "--spacing", "2,1,1.2"});
  CAPTURE(outcome.out);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.starts_with("The volumes fit: rotation 2"));
  CHECK(outcome.out.find("degrees about (0.4") != std::string::npos);
  CHECK(outcome.out.find("reference voxel (x, y, z, 1)") != std::string::npos);
}

Array bytes_of(const std::vector<std::int64_t>& extents, const std::vector<std::uint8_t>& numbers) {
  Array array = make_array(extents, PixelType::u8);
  std::copy(numbers.begin(), numbers.end(), array.samples<std::uint8_t>().begin());
  return array;
}

TEST_CASE(
    "register-volume --modality auto: a negative is found by its edges, and the report says so") {
  require_test_device();
  const Pair pair;
  Array negative = pair.moving;
  for (float& voxel : negative.samples<float>()) voxel = -voxel;
  save_npy(pair.folder / "negative.npy", negative);
  const std::vector<std::string> options{"--motion",  "rigid",   "--max-rotation", "40",
                                         "--spacing", "2,1,1.2", "--modality",     "auto"};
  const Outcome text = pair.run("reference.npy", "negative.npy", options);
  REQUIRE(text.status == 0);
  CHECK(text.out.find(" of edges, significance") != std::string::npos);
  std::vector<std::string> as_json = options;
  as_json.emplace_back("--json");
  const json report = json::parse(pair.run("reference.npy", "negative.npy", as_json).out);
  CHECK(report["modality"] == "other");
  // The edges of blobs are as smooth as the blobs.
  CHECK(::test::corner_error(pair.spec, matrix_of(report)) <= 0.2);
  CHECK(json::parse(pair.run("reference.npy", "moving.npy", as_json).out)["modality"] == "same");
}

TEST_CASE("register-volume: masks of both volumes, and invalid masks") {
  require_test_device();
  const Pair pair;
  // The same bright block in both frames, and masks that exclude it. One mask has NaN and other
  // numbers, and another format than its volume.
  Array reference = pair.reference, moving = pair.moving;
  std::vector<float> reference_mask(reference.samples<float>().size(), 2);
  std::vector<std::uint8_t> moving_mask(reference_mask.size(), 1);
  for (std::size_t z = 8; z < 15; ++z) {
    for (std::size_t y = 12; y < 30; ++y) {
      for (std::size_t x = 10; x < 26; ++x) {
        const std::size_t i = (z * 44 + y) * 40 + x;
        reference.samples<float>()[i] = moving.samples<float>()[i] = 15;
        reference_mask[i] = x % 2 == 0 ? 0 : NAN;
        moving_mask[i] = 0;
      }
    }
  }
  save_npy(pair.folder / "r.npy", reference);
  save_npy(pair.folder / "m.npy", moving);
  write_bytes(pair.folder / "r-mask.nii.gz", write_nifti(array_of({24, 44, 40}, reference_mask),
                                                         plain_nifti_header({1, 1, 1}), true));
  save_npy(pair.folder / "m-mask.npy", bytes_of({24, 44, 40}, moving_mask));
  std::vector<std::string> options{"--motion", "rigid",     "--max-rotation", "40",
                                   "--json",   "--spacing", "2,1,1.2"};
  const Outcome without = pair.run("r.npy", "m.npy", options);
  CHECK(::test::corner_error(pair.spec, matrix_of(json::parse(without.out))) > 1);
  for (const std::string& option : {std::string("--reference-mask"), pair.folder / "r-mask.nii.gz",
                                    std::string("--moving-mask"), pair.folder / "m-mask.npy"}) {
    options.push_back(option);
  }
  const Outcome outcome = pair.run("r.npy", "m.npy", options);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(::test::corner_error(pair.spec, matrix_of(report)) <= 0.1);

  const auto refused = [&](const Array& mask, const std::vector<std::string>& words) {
    save_npy(pair.folder / "wrong.npy", mask);
    check_refused(pair.run("r.npy", "m.npy", {"--moving-mask", pair.folder / "wrong.npy"}), 2,
                  words);
  };
  refused(bytes_of({24, 40, 44}, moving_mask), {"wrong.npy", "44 x 40 x 24", "m.npy"});
  std::fill(moving_mask.begin(), moving_mask.end(), std::uint8_t{0});
  refused(bytes_of({24, 44, 40}, moving_mask), {"wrong.npy", "0 everywhere"});
  std::fill(moving_mask.begin(), moving_mask.begin() + 900, std::uint8_t{7});
  refused(bytes_of({24, 44, 40}, moving_mask), {"m.npy", "leaves 0 voxels", "512"});
  check_refused(pair.run("r.npy", "m.npy", {"--reference-mask", "absent.npy"}), 2, {"absent.npy"});
}

TEST_CASE("register-volume: wrong motions, spacings and NIfTI files give one line each") {
  require_test_device();
  const Pair pair;
  const auto refused = [&](const std::vector<std::string>& options,
                           const std::vector<std::string>& words) {
    check_refused(pair.run("reference.npy", "moving.npy", options), 2, words);
  };
  refused({"--motion", "homography"}, {"--motion", "rigid"});
  refused({"--modality", "another"}, {"--modality", "same, other, auto"});
  refused({"--motion", "rigid", "--max-rotation", "0"}, {"--max-rotation"});
  refused({"--motion", "rigid", "--max-rotation", "200"}, {"--max-rotation"});
  refused({"--max-rotation", "10"}, {"--max-rotation", "translation"});
  refused({"--spacing", "1,2"}, {"--spacing", "z, y and x"});
  refused({"--spacing", "1,0,1"}, {"--spacing"});
  refused({"--moving-spacing", "-1"}, {"--moving-spacing"});
  refused({"--motion", "rigid", "--spacing", "1,1,2000"}, {"1000"});
  refused({"--output", pair.folder / "a.tif"}, {".nii"});
  check_refused(pair.run("reference.nii.gz", "moving.npy", {}), 2, {"moving.npy", "--spacing"});

  NiftiHeader header = plain_nifti_header({0, 1, 1});
  write_bytes(pair.folder / "flat.nii", write_nifti(pair.moving, header, false));
  check_refused(pair.run("reference.nii.gz", "flat.nii", {}), 2, {"flat.nii", "0 x 1 x 1 mm"});
  auto bytes = write_nifti(pair.moving, header, false);
  bytes.resize(bytes.size() / 2);
  write_bytes(pair.folder / "half.nii", bytes);
  check_refused(pair.run("reference.nii.gz", "half.nii", {}), 2, {"half.nii", "truncated"});
}

TEST_CASE("register-volume: a mirrored volume is brought to the order of the reference's axes") {
  require_test_device();
  const Pair pair;
  NiftiHeader header = plain_nifti_header({1.2, 1, 2});
  header.set_integer(nifti1.qform_code, nifti1.code_bytes, 1);
  write_bytes(pair.folder / "right.nii", write_nifti(pair.reference, header, false));
  write_bytes(pair.folder / "same.nii", write_nifti(pair.moving, header, false));
  header.set_real(nifti1.pixdim, -1);  // mirrors z, about 0
  header.set_real(nifti1.srow - nifti1.real_bytes, 23 * 2.0);
  const AxisOrder upside_down{{0, 1, 2}, {false, false, true}};
  write_bytes(pair.folder / "left.nii",
              write_nifti(reordered(pair.moving, upside_down), header, false));
  const auto aligned_by = [&](const std::string& moving, const std::string& axes) {
    const std::string aligned = pair.folder / "aligned.npy";
    const Outcome outcome =
        pair.run("right.nii", moving, {"--motion", "rigid", "--json", "--output", aligned});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(json::parse(outcome.out)["axes"] == json{"RAS", axes});
    return load_npy(aligned);
  };
  // The same voxels in another order: all later steps are the same.
  CHECK(aligned_by("same.nii", "RAS").bytes == aligned_by("left.nii", "RAI").bytes);
}

}  // namespace
}  // namespace warpalign::test
