// Wrong usage and input of `resample` and `prefilter`. The program refuses it before it opens a
// device (the device in these command lines does not exist), with one line that names the culprit,
// and writes nothing.
#include "program/arrays.hpp"
#include "program/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace warpalign::test {
namespace {

using namespace program;

struct Inputs {
  ScratchFolder folder;
  std::string image = folder / "image.png";
  std::string plane = folder / "plane.npy";
  std::string line = folder / "line.npy";
  std::string block = folder / "block.npy";
  std::string complex = folder / "complex.npy";
  std::string output = folder / "output.npy";
  std::vector<std::string> names;

  Inputs() {
    save_image(image, draw({}, {20, 16, 1}, 3, PixelType::u8));
    save_npy(plane, random_array({6, 8}, PixelType::f32));
    save_npy(line, random_array({8}, PixelType::f32));
    save_npy(block, random_array({4, 5, 6}, PixelType::f32));
    save_npy(complex, random_array({6, 8}, PixelType::c32));
    names = folder.names();
  }

  void refused(std::vector<std::string> arguments, const std::vector<std::string>& named) {
    CAPTURE(named.front());
    names = folder.names();
    arguments.insert(arguments.end(), {"--device", "opencl:99"});
    check_refused(run_program(arguments), 2, named);
    CHECK(folder.names() == names);
  }
  void resample_refused(const std::string& input, const std::vector<std::string>& options,
                        const std::vector<std::string>& named) {
    std::vector<std::string> arguments{"resample", input, output};
    arguments.insert(arguments.end(), options.begin(), options.end());
    refused(arguments, named);
  }
};

TEST_CASE("resample: --antialias fits the points, the spline and the output") {
  Inputs in;
  const auto refused = [&](std::vector<std::string> options, const std::string& named) {
    options.insert(options.end(), {"--antialias", "gaussian"});
    in.resample_refused(in.plane, options, {"--antialias", named});
  };
  in.resample_refused(in.plane, {"--zoom", "0.5", "--antialias", "box"},
                      {"'box'", "gaussian, least-squares"});
  in.resample_refused(in.plane, {"--rotate", "3", "--antialias", "least-squares"},
                      {"--antialias", "requires --zoom"});
  refused({"--rotate", "3", "--degree", "0"}, "--degree");
  refused({"--zoom", "0.5", "--shape", "2x2"}, "--shape");
  refused({"--zoom", "0.5", "--degree", "0"}, "--degree");
  refused({"--zoom", "0.5", "--prefilter", "none"}, "--prefilter");
  refused({"--zoom", "0.5", "--precision", "texture"}, "--precision");
  in.resample_refused(in.plane,
                      {"--zoom", "0.5", "--antialias", "least-squares", "--boundary", "nearest"},
                      {"--antialias", "--boundary nearest"});
  in.resample_refused(in.plane, {"--zoom", "0.15", "--antialias", "least-squares"},
                      {"--antialias", "one pixel"});
}

TEST_CASE("resample: exactly one option says where to read, and it fits the input") {
  Inputs in;
  in.resample_refused(in.plane, {}, {"--matrix", "--coordinates"});
  in.resample_refused(in.plane, {"--zoom", "2", "--rotate", "3"}, {"given twice"});
  in.resample_refused(in.plane, {"--zoom", "2", "--center", "3,3"}, {"--center"});
  in.resample_refused(in.plane, {"--matrix", "1,0,0,0,1"}, {"--matrix", "5 numbers", "takes 6"});
  in.resample_refused(in.plane, {"--matrix", "1,0,0,0,0,1,0,0,0,0,1,0"}, {"12 numbers", "takes 6"});
  in.resample_refused(in.block, {"--matrix", "1,0,0,0,1,0"}, {"6 numbers", "takes 12"});
  in.resample_refused(in.line, {"--matrix", "1,0,0,0,1,0"}, {"takes 2"});
  in.resample_refused(in.plane, {"--matrix", "1,0,zero,0,1,0"}, {"zero"});
  in.resample_refused(in.plane, {"--matrix", "1,0,nan,0,1,0"}, {"nan"});
  in.resample_refused(in.plane, {"--matrix", "1,0,,0,1,0"}, {"--matrix"});
  in.resample_refused(in.plane, {"--matrix", ""}, {"--matrix"});
  in.resample_refused(in.plane, {"--rotate", "inf"}, {"--rotate"});
  in.resample_refused(in.plane, {"--rotate", "left"}, {"--rotate"});
  in.resample_refused(in.block, {"--rotate", "30"}, {"--rotate", "two dimensions"});
  in.resample_refused(in.plane, {"--rotate", "30", "--center", "3"}, {"--center"});
  for (const char* factor : {"0", "-1", "nan", "inf", "0.01", "1e9"}) {
    in.resample_refused(in.plane, {"--zoom", factor}, {"--zoom"});
  }
  in.resample_refused(in.plane, {"--zoom", "50000000"}, {"output.npy", "8 GiB"});
}

TEST_CASE("resample: an invalid --shape, or one of other dimensions") {
  Inputs in;
  for (const char* shape : {"", "x", "5", "5x", "5x5x5", "0x5", "-3x5", "5.5x4", "5X4", "5,4",
                            "5x99999999999999999999"}) {
    CAPTURE(shape);
    in.resample_refused(in.plane, {"--zoom", "1", "--shape", shape}, {"--shape"});
  }
  in.resample_refused(in.plane, {"--zoom", "1", "--shape", "1000000x1000000"}, {"8 GiB"});
}

TEST_CASE("resample: a mismatched field") {
  Inputs in;
  const std::string field = in.folder / "field.npy";
  const auto refused = [&](const std::string& input, const Array& displacements,
                           const std::vector<std::string>& named) {
    save_npy(field, displacements);
    in.resample_refused(input, {"--field", field}, named);
  };
  refused(in.plane, random_array({6, 8}, PixelType::f32), {field, "(6, 8)", "(2, height, width)"});
  refused(in.plane, random_array({2, 8, 6}, PixelType::f32), {field, "(2, 8, 6)"});
  refused(in.plane, random_array({3, 6, 8}, PixelType::f32), {field, "(3, 6, 8)"});
  refused(in.plane, random_array({2, 6, 8}, PixelType::u16), {field, "uint16", "float32"});
  refused(in.plane, random_array({2, 6, 8}, PixelType::c32), {field, "float32"});
  refused(in.block, random_array({2, 5, 6}, PixelType::f32), {field, "(4, 5, 6)"});
  save_npy(field, random_array({2, 6, 8}, PixelType::f32));
  in.resample_refused(in.plane, {"--field", field, "--shape", "6x8"}, {"--shape", "--field"});
  in.resample_refused(in.plane, {"--field", field, "--zoom", "2"}, {"given twice"});
  in.resample_refused(in.plane, {"--field", in.folder / "none.npy"}, {"none.npy"});
  in.resample_refused(in.plane, {"--field", in.image}, {in.image, ".npy"});
  in.output = field;
  in.resample_refused(in.plane, {"--field", field}, {"OUT"});
}

TEST_CASE("resample: mismatched coordinates") {
  Inputs in;
  const std::string field = in.folder / "field.npy";
  const auto refused = [&](const std::string& input, const Array& coordinates,
                           const std::vector<std::string>& named) {
    save_npy(field, coordinates);
    in.resample_refused(input, {"--coordinates", field}, named);
  };
  refused(in.plane, random_array({3, 5}, PixelType::f32), {field, "(3, 5)", "(2, ...)"});
  refused(in.plane, random_array({2}, PixelType::f32), {field});
  refused(in.line, random_array({8}, PixelType::f32), {field, "(1, ...)"});
  refused(in.block, random_array({2, 5, 6}, PixelType::f32), {field, "(3, ...)"});
  refused(in.plane, random_array({2, 5}, PixelType::c32), {field, "complex"});
  save_npy(field, random_array({2, 5, 6}, PixelType::f32));
  in.resample_refused(in.plane, {"--coordinates", field, "--shape", "6x5"}, {"--shape", "5x6"});
  in.resample_refused(in.plane, {"--coordinates", in.folder / "none.npy"}, {"none.npy"});
  in.resample_refused(in.plane, {"--coordinates", in.image}, {in.image, ".npy"});
}

TEST_CASE("resample and prefilter: invalid spline options") {
  Inputs in;
  const auto both = [&](const std::vector<std::string>& options,
                        const std::vector<std::string>& named) {
    std::vector<std::string> arguments{"prefilter", in.plane, in.output};
    arguments.insert(arguments.end(), options.begin(), options.end());
    in.refused(arguments, named);
    arguments[0] = "resample";
    arguments.insert(arguments.end(), {"--zoom", "2"});
    in.refused(arguments, named);
  };
  for (const char* degree : {"-1", "6", "three", "2.5"}) both({"--degree", degree}, {"--degree"});
  for (const char* taps : {"fir:4", "fir:1", "fir:65", "fir:", "fir:x", "fir:-3", "fir:7.0"}) {
    both({"--prefilter", taps}, {"--prefilter", "odd"});
  }
  for (const char* prefilter : {"fir", "iir", "Exact", ""}) {
    both({"--prefilter", prefilter}, {"--prefilter", "iir:line"});
  }
  both({"--prefilter", "fir:7", "--degree", "5"}, {"fir:7", "--degree 3"});
  both({"--boundary", "mirrored"}, {"--boundary mirrored", "grid-wrap"});
  both({"--cval", "nan"}, {"--cval"});
  for (const char* degree : {"0", "1"}) {
    both({"--degree", degree, "--prefilter", "fir:7"}, {"prefilter"});
    both({"--degree", degree, "--prefilter", "iir:line"}, {"prefilter"});
  }
  in.refused({"prefilter", in.plane, in.output, "--degree", "1"}, {"--degree 1", "2 to 5"});
  in.refused({"prefilter", in.plane, in.output, "--prefilter", "none"}, {"--prefilter none"});
}

TEST_CASE("resample: texture precision where it is not available") {
  Inputs in;
  const auto refused = [&](const std::string& input, const std::string& degree) {
    in.resample_refused(input, {"--zoom", "2", "--precision", "texture", "--degree", degree},
                        {"--precision texture"});
  };
  refused(in.plane, "2");
  refused(in.line, "3");
  refused(in.complex, "1");
  in.resample_refused(in.plane, {"--zoom", "2", "--precision", "half"},
                      {"invalid value 'half' for --precision"});
}

TEST_CASE("inputs that cannot be read") {
  Inputs in;
  const std::string bad = in.folder / "bad.npy";
  const auto both = [&](const std::vector<std::string>& named) {
    in.refused({"prefilter", bad, in.output}, named);
    in.refused({"resample", bad, in.output, "--zoom", "2"}, named);
  };
  std::string good = read_text(in.plane);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  write_text(bad, replaced("<f4", "<q4"));
  both({bad, "'<q4'"});
  write_text(bad, replaced("(6, 8)", "(6, 9)"));
  both({bad, "fewer"});
  write_text(bad, good + "x");
  both({bad, "more"});
  write_text(bad, "\x93NUMPY");
  both({bad, ".npy"});
  write_text(bad, "");
  both({bad, "empty"});
  in.refused({"prefilter", in.image, in.output}, {in.image, "3 channels"});
  in.refused({"resample", in.folder / "none.png", in.output, "--zoom", "2"}, {"none.png"});
}

TEST_CASE("outputs that cannot be written") {
  Inputs in;
  const auto refused = [&](const std::string& input, const std::string& output,
                           const std::vector<std::string>& named) {
    in.refused({"resample", input, output, "--zoom", "2"}, named);
  };
  refused(in.plane, in.folder / "a.bmp", {"a.bmp", ".npy"});
  refused(in.plane, in.folder / "a.png", {"a.png", "floating-point"});
  refused(in.complex, in.folder / "a.tif", {"a.tif", "complex"});
  refused(in.block, in.folder / "a.tif", {"a.tif", "3 dimensions"});
  refused(in.line, in.folder / "a.tif", {"a.tif", "1 dimension,"});
  refused(in.image, in.folder / "a.npy", {"a.npy", "colour"});
  refused(in.image, in.folder / "a.pgm", {"a.pgm"});
  refused(in.image, in.image, {"same file"});
  refused(in.plane, in.folder / "./plane.npy", {"same file"});
  refused(in.plane, in.folder / "missing/a.npy", {"missing/a.npy"});
  refused(in.plane, "/proc/a.npy", {"/proc/a.npy"});
  in.refused({"resample", in.image, in.folder / "a.png", "--zoom", "1000"}, {"a.png", "16384"});
  in.refused({"prefilter", in.plane, in.folder / "a.png"}, {"a.png", ".npy"});
  in.refused({"prefilter", in.plane, in.plane}, {"same file"});
  in.refused({"prefilter", in.plane, in.folder / "missing/a.npy"}, {"missing/a.npy"});
}

TEST_CASE("a device that fails leaves an existing output unchanged") {
  const Inputs in;
  write_text(in.output, "before");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"resample", in.plane, in.output, "--zoom", "2"},
        {"prefilter", in.plane, in.output}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--device", "opencl:99"});
    check_refused(run_program(all), 3, {"opencl"});
    CHECK(read_text(in.output) == "before");
  }
}

}  // namespace
}  // namespace warpalign::test
