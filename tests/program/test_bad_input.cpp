// Wrong usage and invalid input: exit status 2, one line that names the culprit, and no output
// files.
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace warpalign::test {
namespace {

using namespace program;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_complaint(const Outcome& outcome, int status, const std::string& named) {
  CAPTURE(outcome.err);
  CAPTURE(named);
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("warpalign: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(contains(outcome.err, named));
}

/// A folder with a valid image, which tests combine with an invalid one.
struct Inputs {
  ScratchFolder folder;
  std::string good = folder / "good.png";

  Inputs() { save_image(good, draw({}, {64, 64, 1}, 1, PixelType::u8)); }

  void check_refused(const std::string& bad, const std::string& reason) const {
    CAPTURE(bad);
    const std::string output = folder / "output.tif";
    for (const auto& pair : {std::pair{good, bad}, std::pair{bad, good}}) {
      const Outcome outcome = run_program({"register", pair.first, pair.second, "--json",
                                           "--output", output, "--device", test_device()});
      check_complaint(outcome, 2, bad);
      CHECK(contains(outcome.err, reason));
      CHECK_FALSE(std::filesystem::exists(output));
    }
    for (const std::string& name : folder.names()) CHECK_FALSE(name.starts_with(".warpalign"));
  }
};

TEST_CASE("missing files, folders and files that are not images") {
  const Inputs inputs;
  const ScratchFolder& folder = inputs.folder;
  inputs.check_refused(folder / "missing.png", "No such file");
  inputs.check_refused(folder / ".", "is a directory");
  write_text(folder / "empty.png", "");
  inputs.check_refused(folder / "empty.png", "is empty");
  write_text(folder / "text.png", "this is no picture at all");
  inputs.check_refused(folder / "text.png", "convert it to PNG");
  write_text(folder / "short.png", "P");
  inputs.check_refused(folder / "short.png", "convert it to PNG");
  if (::geteuid() != 0) {
    write_text(folder / "secret.png", "x");
    std::filesystem::permissions(folder / "secret.png", std::filesystem::perms::none);
    inputs.check_refused(folder / "secret.png", "Permission denied");
  }
}

TEST_CASE("truncated files of every format, cut anywhere") {
  const Inputs inputs;
  const ScratchFolder& folder = inputs.folder;
  const LoadedImage image = draw({}, {96, 80, 1}, 3, PixelType::u8);
  for (const std::string extension : {".png", ".jpg", ".tif", ".ppm"}) {
    save_image(folder / ("whole" + extension), image);
    for (const double share : {0.02, 0.3, 0.7, 0.99}) {
      const std::string bad = folder / ("cut" + extension);
      truncate_copy(folder / ("whole" + extension), bad, share);
      inputs.check_refused(bad, "damaged or truncated");
    }
  }
}

TEST_CASE("headers that lie or ask for too much, before memory is taken") {
  const Inputs inputs;
  const ScratchFolder& folder = inputs.folder;
  write_text(folder / "huge.pgm", "P5\n100000 100000\n255\nfew");
  inputs.check_refused(folder / "huge.pgm", "16384");
  write_text(folder / "lie.pgm", "P5\n16384 16384\n65535\nfew");
  inputs.check_refused(folder / "lie.pgm", "missing");
  write_text(folder / "lie2.pgm", "P2\n16384 16384\n255\n1 2 3");
  inputs.check_refused(folder / "lie2.pgm", "missing");
  write_text(folder / "none.pgm", "P5\n0 10\n255\n");
  inputs.check_refused(folder / "none.pgm", "0 x 10");

  const auto with_width = [&](const std::string& bytes) {
    std::string png = read_text(inputs.good);
    png.replace(16, 4, bytes);
    return png;
  };
  write_text(folder / "huge.png", with_width(std::string("\0\x01\x86\xa0", 4)));
  inputs.check_refused(folder / "huge.png", "100000 x 64");
  write_text(folder / "none.png", with_width(std::string(4, '\0')));
  inputs.check_refused(folder / "none.png", "0 x 64");

  save_image(folder / "huge.jpg", draw({}, {64, 64, 1}, 1, PixelType::u8));
  std::string jpeg = read_text(folder / "huge.jpg");
  const std::size_t frame = jpeg.find(std::string("\xff\xc0", 2));
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\x00\xff\x00", 4);
  write_text(folder / "huge.jpg", jpeg);
  inputs.check_refused(folder / "huge.jpg", "65280 x 65280");
}

TEST_CASE("images that are too small") {
  const Inputs inputs;
  save_image(inputs.folder / "one.png", draw({}, {1, 1, 1}, 1, PixelType::u8));
  inputs.check_refused(inputs.folder / "one.png", "1 x 1");
  save_image(inputs.folder / "flat.png", draw({}, {64, 15, 1}, 1, PixelType::u8));
  inputs.check_refused(inputs.folder / "flat.png", "64 x 15");
}

TEST_CASE("images without content, or without finite values") {
  require_test_device();
  const Inputs inputs;
  LoadedImage image = make_image(64, 64, 1, PixelType::f32);
  save_image(inputs.folder / "constant.tif", image);
  inputs.check_refused(inputs.folder / "constant.tif", "constant");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::ranges::fill(image.samples<float>(), bad);
    save_image(inputs.folder / "bad.tif", image);
    inputs.check_refused(inputs.folder / "bad.tif", "no pixel to register");
  }
}

TEST_CASE("outputs that cannot be written are refused before the registration") {
  const Inputs inputs;
  const ScratchFolder& folder = inputs.folder;
  const std::string other = folder / "other.png";
  save_image(other, draw({2}, {64, 64, 1}, 3, PixelType::u16));
  const auto refused = [&](const std::vector<std::string>& options, const std::string& named) {
    std::vector<std::string> arguments{"register", inputs.good, other, "--device", "opencl:99"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_complaint(run_program(arguments), 2, named);
  };
  refused({"--output", folder / "a.bmp"}, "a.bmp");
  refused({"--output", folder / "a"}, ".png");
  refused({"--output", folder / "a.jpg"}, "16 bits");
  refused({"--output", folder / "a.pgm"}, "colour");
  refused({"--output", folder / "missing/a.png"}, "missing/a.png");
  refused({"--output", "/proc/a.png"}, "/proc/a.png");
  refused({"--output", other}, "same file");
  refused({"--output", folder / "./good.png"}, "same file");
  refused({"--overlay", inputs.good}, "same file");
  refused({"--overlay", folder / "a.jpg"}, "--overlay");
  refused({"--output", folder / "a.png", "--overlay", folder / "./a.png"}, "same file");
  CHECK(folder.names() == std::vector<std::string>{"good.png", "other.png"});
}

TEST_CASE("contradictory registration options are refused before the registration") {
  const Inputs inputs;
  const ScratchFolder& folder = inputs.folder;
  save_image(folder / "small.png", draw({}, {32, 64, 1}, 1, PixelType::u8));
  save_image(folder / "black.png", make_image(64, 64, 3, PixelType::u16));
  const auto refused = [&](const std::vector<std::string>& options, const std::string& named) {
    std::vector<std::string> arguments{"register", inputs.good, inputs.good, "--device",
                                       "opencl:99"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_complaint(run_program(arguments), 2, named);
  };
  refused({"--motion", "projective"}, "invalid value 'projective' for --motion");
  refused({"--spectrum", "sobel"}, "invalid value 'sobel' for --spectrum");
  refused({"--modality", "mri"}, "invalid value 'mri' for --modality");
  refused({"--search", "quick"},
          "invalid value 'quick' for --search (choose from: fast, standard, thorough)");
  refused({"--threads", "0"}, "invalid value '0' for --threads: choose 1 or more");
  refused({"--threads", "-1"}, "invalid value '-1' for --threads: choose 1 or more");
  refused({"--threads", "17"}, "invalid value '17' for --threads: choose an integer from 1 to 16");
  refused({"--threads", "two"}, "invalid value 'two' for --threads");
  refused({"--threads", ""}, "invalid value '' for --threads");
  refused({"--motion", "local", "--threads", "2"}, "--threads");
  refused({"--modality", "other", "--search", "fast"}, "--search fast: compares log-polar");
  refused({"--modality", "other", "--spectrum", "grey"}, "--spectrum: --modality other");
  refused({"--motion", "local", "--modality", "other"}, "--modality");
  refused({"--motion", "local", "--search", "fast"}, "--search");
  refused({"--scale-range", "2,1"}, "--scale-range 2,1: must start with the smaller number");
  refused({"--scale-range", "1"}, "--scale-range 1: must be two numbers");
  refused({"--scale-range", "0,1"}, "--scale-range 0,1: scales must be from");
  refused({"--scale-range", "1,100"}, "--scale-range 1,100: scales must be from");
  refused({"--scale-range", "1,nan"}, "nan");
  refused({"--angle-range", "10,-10"}, "--angle-range 10,-10: must start with the smaller number");
  refused({"--angle-range=-200,200"}, "more than 360 degrees");
  refused({"--max-shift", "0"}, "--max-shift 0");
  refused({"--max-shift", "-3"}, "--max-shift -3");
  refused({"--max-shift", "inf"}, "--max-shift inf");
  refused({"--max-shift", "4,0"}, "--max-shift 4,0: must be a number above 0, or two, X,Y");
  refused({"--max-shift", "4,5,6"}, "--max-shift 4,5,6: must be a number above 0, or two, X,Y");
  refused({"--candidates", "0"}, "--candidates 0");
  refused({"--candidates", "11"}, "--candidates 11");
  refused({"--candidates", "many"}, "many");
  refused({"--motion", "rigid", "--scale-range", "1,2"}, "--scale-range: --motion rigid");
  refused({"--motion", "translation", "--angle-range", "0,5"}, "--angle-range: --motion trans");
  refused({"--motion", "translation", "--spectrum", "grey"}, "--spectrum: --motion translation");
  refused({"--motion", "rotation", "--max-shift", "5"}, "--max-shift: --motion rotation");
  refused({"--motion", "local", "--max-shift", "5,5"}, "--max-shift 5,5: must be one number");
  for (const auto& [option, value] :
       {std::pair{"--motion", "similarity"}, std::pair{"--scale-range", "1,2"},
        std::pair{"--angle-range", "0,5"}, std::pair{"--max-shift", "5"},
        std::pair{"--candidates", "2"}, std::pair{"--spectrum", "gradient"},
        std::pair{"--modality", "other"}, std::pair{"--search", "thorough"}}) {
    refused({"--fast", option, value}, std::string(option) + ": --fast");
  }
  for (const std::string option : {"--reference-mask", "--moving-mask"}) {
    refused({option, inputs.good, "--fast"}, option + ": --fast does not support masks");
    refused({option, folder / "small.png"}, "small.png: is 32 x 64, but ");
    refused({option, folder / "black.png"}, "black.png: is 0 everywhere");
    refused({option, folder / "missing.png"}, "missing.png");
    refused({option, folder / "black.png", "--overlay", folder / "black.png"}, "--overlay");
  }
}

TEST_CASE("a failure leaves an existing output unchanged") {
  const Inputs inputs;
  const std::string output = inputs.folder / "output.png";
  write_text(output, "before");
  const Outcome outcome = run_program(
      {"register", inputs.good, inputs.good, "--output", output, "--device", "opencl:99"});
  check_complaint(outcome, 3, "opencl");
  CHECK(read_text(output) == "before");
  CHECK(inputs.folder.names() == std::vector<std::string>{"good.png", "output.png"});
}

TEST_CASE("wrong usage") {
  check_complaint(run_program({}), 2,
                  "register, register-volume, stack, mosaic, template, transform, resample, "
                  "prefilter, devices");
  check_complaint(run_program({"regster"}), 2, "regster");
  check_complaint(run_program({"register", "one.png"}), 2, "MOVING");
  check_complaint(run_program({"register", "a", "b", "--outptu", "c"}), 2, "--outptu");
  // The message names the command that lists the options.
  check_complaint(run_program({"--outptu"}), 2, "see 'warpalign --help'");
  check_complaint(run_program({"stack", "a.tif", "--outptu", "c"}), 2,
                  "see 'warpalign stack --help'");
  const Inputs inputs;
  check_complaint(run_program({"register", inputs.good, inputs.good, "--device", "vulkan"}), 2,
                  "vulkan");
}

TEST_CASE("an invalid configuration is reported with its file and key") {
  const Inputs inputs;
  const std::string config = inputs.folder / "bad.toml";
  const auto refused = [&](const std::string& text, const std::string& named) {
    write_text(config, text);
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"register", inputs.good, inputs.good},
          std::vector<std::string>{"devices"}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--config", config});
      const Outcome outcome = run_program(arguments);
      check_complaint(outcome, 2, config);
      CHECK(contains(outcome.err, named));
    }
  };
  refused("devise = 'opencl'", "devise");
  refused("device = 3", "device");
  refused("device = ", "bad.toml:1");
  check_complaint(run_program({"devices", "--config", inputs.folder / "none.toml"}), 2,
                  "none.toml");
}

}  // namespace
}  // namespace warpalign::test
