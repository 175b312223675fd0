// `warpalign resample`: output values, coordinates and types.
#include "program/arrays.hpp"
#include "program/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace warpalign::test {
namespace {

using namespace program;

const std::string identity = "1,0,0,0,1,0";

Array resampled(const Array& input, const std::vector<std::string>& options) {
  const ScratchFolder folder;
  save_npy(folder / "in.npy", input);
  std::vector<std::string> arguments{"resample", folder / "in.npy", folder / "out.npy"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  run_successfully(arguments);
  return load_npy(folder / "out.npy");
}

std::vector<std::string> at_points(const ScratchFolder& folder, const Array& field) {
  save_npy(folder / "field.npy", field);
  return {"--coordinates", folder / "field.npy", "--degree", "1"};
}

/// NumPy's rot90: counter-clockwise.
template <typename Sample>
std::vector<Sample> rotated(std::span<const Sample> from, std::int64_t n) {
  std::vector<Sample> to;
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      to.push_back(from[static_cast<std::size_t>(x * n + n - 1 - y)]);
    }
  }
  return to;
}

TEST_CASE("the identity returns float32: exactly for degrees 0 and 1, closely for the others") {
  require_test_device();
  const Array input = random_array({37, 61}, PixelType::f32);
  for (const char* degree : {"0", "1"}) {
    CHECK(resampled(input, {"--matrix", identity, "--degree", degree}).bytes == input.bytes);
  }
  CHECK(max_difference(resampled(input, {"--matrix", identity}), input) < 1.6e-6);
  // relative to the largest coefficient, which is up to 3 times a sample along each axis
  Array smooth = make_array({40, 50}, PixelType::f32);
  for (std::size_t i = 0; i < smooth.samples<float>().size(); ++i) {
    smooth.samples<float>()[i] = 0.5F + 0.5F * std::sin(0.05F * static_cast<float>(i % 50));
  }
  for (const char* degree : {"2", "3", "4", "5"}) {
    CHECK(max_difference(resampled(smooth, {"--matrix", identity, "--degree", degree}), smooth) <
          4e-7);
  }
}

TEST_CASE("the identity returns integers and images exactly") {
  require_test_device();
  for (const PixelType type : {PixelType::u8, PixelType::u16}) {
    const Array input = random_array({20, 30}, type);
    const Array output = resampled(input, {"--matrix", identity});
    CHECK(output.type == type);
    CHECK(output.bytes == input.bytes);
  }
  const ScratchFolder folder;
  for (const int channels : {1, 3}) {
    for (const PixelType type : {PixelType::u8, PixelType::u16}) {
      const LoadedImage image = draw({}, {61, 37, 1}, channels, type);
      save_image(folder / "in.png", image);
      run_successfully({"resample", folder / "in.png", folder / "out.png", "--matrix", identity});
      const LoadedImage back = load_image(folder / "out.png");
      CHECK(back.channels == channels);
      CHECK(back.type == type);
      CHECK(back.pixels == image.pixels);
    }
  }
}

TEST_CASE("a rotation by 90 degrees is NumPy's rot90: counter-clockwise") {
  require_test_device();
  for (const std::int64_t n : {8, 9}) {
    const Array input = random_array({n, n}, PixelType::f32);
    const Array bytes = random_array({n, n}, PixelType::u8);
    for (const char* degree : {"0", "1"}) {
      CHECK(numbers_of(resampled(input, {"--rotate", "90", "--degree", degree})) ==
            rotated<float>(input.samples<float>(), n));
      const Array back = resampled(bytes, {"--rotate", "-270", "--degree", degree});
      const auto samples = back.samples<std::uint8_t>();
      CHECK(std::vector<std::uint8_t>(samples.begin(), samples.end()) ==
            rotated<std::uint8_t>(bytes.samples<std::uint8_t>(), n));
    }
  }
}

TEST_CASE("--center rotates about another point") {
  require_test_device();
  Array input = make_array({9, 9}, PixelType::f32);
  input.samples<float>()[2 * 9 + 5] = 1;  // (5, 2): 3 to the right of the centre (2, 2)
  const Array output = resampled(
      input, {"--rotate", "-90", "--center", "2,2", "--degree", "1", "--boundary", "constant"});
  CHECK(output.samples<float>()[5 * 9 + 2] == 1);  // clockwise: 3 below it
}

TEST_CASE("--matrix maps output to input, and --shape crops or extends") {
  require_test_device();
  const Array input = random_array({7, 9}, PixelType::f32);
  const Array output = resampled(input, {"--matrix", "1 0 2 0 1 3", "--degree", "0", "--shape",
                                         "5x4", "--boundary", "constant", "--cval", "-7.5"});
  REQUIRE(output.extents == std::vector<std::int64_t>{5, 4});
  for (std::size_t y = 0; y < 5; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      CHECK(output.samples<float>()[y * 4 + x] ==
            (y + 3 < 7 ? input.samples<float>()[(y + 3) * 9 + x + 2] : -7.5F));
    }
  }
}

TEST_CASE("a singular matrix is allowed, since it is not inverted") {
  require_test_device();
  const Array input = random_array({5, 5}, PixelType::f32);
  const Array output = resampled(input, {"--matrix", "0,0,2,0,0,1", "--degree", "1"});
  for (const float value : output.samples<float>()) CHECK(value == input.samples<float>()[7]);
}

TEST_CASE("--zoom keeps the corners' centres and rounds the shape as SciPy does") {
  require_test_device();
  const Array input = random_array({5, 7}, PixelType::f32);
  const Array output = resampled(input, {"--zoom", "2.5", "--degree", "1"});
  // 12.5 is rounded to the even number
  REQUIRE(output.extents == std::vector<std::int64_t>{12, 18});
  const auto in = input.samples<float>();
  const auto out = output.samples<float>();
  CHECK(out[0] == in[0]);
  CHECK(out[17] == doctest::Approx(in[6]).epsilon(1e-6));
  CHECK(out[11 * 18] == doctest::Approx(in[4 * 7]).epsilon(1e-6));
  CHECK(out.back() == doctest::Approx(in.back()).epsilon(1e-6));
  CHECK(resampled(random_array({4, 6, 8}, PixelType::f32), {"--zoom", "0.5"}).extents ==
        std::vector<std::int64_t>{2, 3, 4});
}

TEST_CASE("--antialias smooths by a Gaussian before it reduces") {
  require_test_device();
  const Array input = random_array({9}, PixelType::f32);
  const auto in = input.samples<float>();
  const Array output =
      resampled(input, {"--zoom", "0.5556", "--antialias", "gaussian", "--degree", "1"});
  REQUIRE(output.extents == std::vector<std::int64_t>{5});
  // Two samples a pixel: a standard deviation of half a sample.
  double sum = 0, weights = 0;
  for (int k = -2; k <= 2; ++k) {
    weights += std::exp(-2.0 * k * k);
    sum += std::exp(-2.0 * k * k) * in[static_cast<std::size_t>(4 + k)];
  }
  CHECK(output.samples<float>()[2] == doctest::Approx(sum / weights).epsilon(1e-5));
  // An image of a plane keeps its values by least squares, apart from the ends.
  Array plane = make_array({60, 80}, PixelType::f32);
  for (std::size_t i = 0; i < plane.samples<float>().size(); ++i) {
    plane.samples<float>()[i] = static_cast<float>(i / 80) + 0.5F * static_cast<float>(i % 80);
  }
  const Array small = resampled(plane, {"--zoom", "0.25", "--antialias", "least-squares"});
  REQUIRE(small.extents == std::vector<std::int64_t>{15, 20});
  const double at = 7 * 59.0 / 14 + 0.5 * 10 * 79.0 / 19;
  CHECK(small.samples<float>()[7 * 20 + 10] == doctest::Approx(at).epsilon(1e-4));
}

TEST_CASE("coordinates have SciPy's layout: y before x") {
  require_test_device();
  const ScratchFolder folder;
  const Array input = random_array({4, 6}, PixelType::f32);
  const auto in = input.samples<float>();
  const Array two =
      resampled(input, at_points(folder, array_of({2, 2, 3}, {0, 1, 2, 3, 3, 0,      // y
                                                              5, 4, 3, 0, 5, 0})));  // x
  CHECK(two.extents == std::vector<std::int64_t>{2, 3});
  CHECK(numbers_of(two) ==
        std::vector<float>{in[5], in[6 + 4], in[12 + 3], in[18], in[18 + 5], in[0]});
  const Array one = resampled(input, at_points(folder, array_of({2, 2}, {1, 2, 5, 0})));
  CHECK(one.extents == std::vector<std::int64_t>{2});
  CHECK(numbers_of(one) == std::vector<float>{in[6 + 5], in[12]});
  const Array more = resampled(input, at_points(folder, array_of({2, 1, 2, 1}, {1, 2, 5, 0})));
  CHECK(more.extents == std::vector<std::int64_t>{1, 2, 1});
  CHECK(more.bytes == one.bytes);
}

TEST_CASE("a field displaces each pixel: first along x, then along y") {
  require_test_device();
  const ScratchFolder folder;
  const Array input = random_array({2, 3}, PixelType::f32);
  const auto in = input.samples<float>();
  const Array field = array_of({2, 2, 3}, {1, 1, -2, 0, 0, 0,     // x
                                           0, 1, 0, 0, -1, -1});  // y
  save_npy(folder / "field.npy", field);
  const Array read = resampled(input, {"--field", folder / "field.npy", "--degree", "1"});
  CHECK(read.extents == input.extents);
  CHECK(numbers_of(read) == std::vector<float>{in[1], in[3 + 2], in[0], in[3], in[1], in[2]});
}

TEST_CASE("coordinates for one and three dimensions") {
  require_test_device();
  const ScratchFolder folder;
  const Array line = random_array({9}, PixelType::f32);
  const Array picked = resampled(line, at_points(folder, array_of({1, 2, 2}, {8, 0, 3, 4})));
  CHECK(picked.extents == std::vector<std::int64_t>{2, 2});
  const auto samples = line.samples<float>();
  CHECK(numbers_of(picked) == std::vector<float>{samples[8], samples[0], samples[3], samples[4]});
  const Array block = random_array({2, 3, 4}, PixelType::f32);
  const auto cells = block.samples<float>();
  CHECK(
      numbers_of(resampled(block, at_points(folder, array_of({3, 1, 1, 2}, {1, 0, 2, 1, 3, 0})))) ==
      std::vector<float>{cells[12 + 8 + 3], cells[4]});
}

TEST_CASE("coordinates far away, infinite and NaN") {
  require_test_device();
  const ScratchFolder folder;
  const float infinity = std::numeric_limits<float>::infinity();
  const Array field = array_of(
      {1, 5}, {1e30F, -1e30F, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()});
  std::vector<std::string> options = at_points(folder, field);
  options.insert(options.end(), {"--boundary", "nearest", "--cval", "9"});
  CHECK(numbers_of(resampled(array_of({3}, {1, 2, 3}), options)) ==
        std::vector<float>{3, 1, 3, 1, 9});
}

TEST_CASE("complex numbers, with every option") {
  require_test_device();
  const Array input = random_array({12, 11}, PixelType::c32);
  CHECK(resampled(input, {"--matrix", identity, "--degree", "1"}).bytes == input.bytes);
  const Array cubic = resampled(input, {"--rotate", "180"});
  CHECK(cubic.type == PixelType::c32);
  Array reversed = input;
  const auto numbers = reversed.samples<float>();
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    numbers[i] = input.samples<float>()[numbers.size() - 2 - i];
    numbers[i + 1] = input.samples<float>()[numbers.size() - 1 - i];
  }
  CHECK(max_difference(cubic, reversed) < 4e-6);
}

TEST_CASE("one and three dimensions with a matrix") {
  require_test_device();
  const Array line = array_of({4}, {1, 2, 4, 8});
  CHECK(numbers_of(resampled(line, {"--matrix", "-1,3", "--degree", "1"})) ==
        std::vector<float>{8, 4, 2, 1});
  const Array block = random_array({3, 4, 5}, PixelType::f32);
  const Array moved = resampled(
      block, {"--matrix", "1,0,0,1, 0,1,0,2, 0,0,1,1", "--shape", "2x2x4", "--degree", "0"});
  REQUIRE(moved.extents == std::vector<std::int64_t>{2, 2, 4});
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 4; ++x) {
        CHECK(moved.samples<float>()[(z * 2 + y) * 4 + x] ==
              block.samples<float>()[((z + 1) * 4 + y + 2) * 5 + x + 1]);
      }
    }
  }
}

TEST_CASE("integers are the rounded and saturated float32 result") {
  require_test_device();
  Array bytes = make_array({8, 8}, PixelType::u8);
  Array floats = make_array({8, 8}, PixelType::f32);
  for (std::size_t i = 0; i < 64; ++i) {
    bytes.samples<std::uint8_t>()[i] = i % 8 < 4 ? 0 : 255;
    floats.samples<float>()[i] = i % 8 < 4 ? 0 : 255;
  }
  const Array rounded = resampled(bytes, {"--zoom", "4"});
  const Array exact = resampled(floats, {"--zoom", "4"});
  float least = 0;
  float most = 0;
  for (std::size_t i = 0; i < exact.samples<float>().size(); ++i) {
    const float value = exact.samples<float>()[i];
    least = std::min(least, value);
    most = std::max(most, value);
    CHECK(std::abs(static_cast<float>(rounded.samples<std::uint8_t>()[i]) -
                   std::clamp(value, 0.0F, 255.0F)) <= 0.5001F);
  }
  CHECK(least < -5);  // the cubic spline overshoots
  CHECK(most > 260);
}

TEST_CASE("prefilters, precisions and boundaries follow the options") {
  require_test_device();
  const Array input = random_array({24, 32}, PixelType::f32);
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--matrix", "1,0,0.4,0,1,-0.3"});
    return resampled(input, options);
  };
  const Array exact = with({});
  CHECK(max_difference(with({"--prefilter", "iir:line"}), exact) < 1e-5);
  CHECK(max_difference(with({"--prefilter", "fir:21"}), exact) < 1e-4);
  const double fir7 = max_difference(with({"--prefilter", "fir:7"}), exact);
  CHECK(fir7 > 1e-4);
  CHECK(fir7 < 0.1);
  CHECK(max_difference(with({"--prefilter", "none"}), exact) > 0.1);
  CHECK(max_difference(with({"--precision", "texture"}), exact) < 0.05);
  CHECK(max_difference(with({"--precision", "texture-lut"}), exact) < 0.05);
  std::vector<Array> seen{exact};
  for (const char* boundary :
       {"reflect", "nearest", "constant", "grid-constant", "wrap", "grid-wrap"}) {
    CAPTURE(boundary);
    seen.push_back(with({"--boundary", boundary, "--cval", "0.25"}));
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) CHECK(seen[i].bytes != seen.back().bytes);
  }
}

TEST_CASE("images and .npy files convert to each other if they can") {
  require_test_device();
  const ScratchFolder folder;
  const LoadedImage image = draw({}, {20, 16, 1}, 1, PixelType::u16);
  save_image(folder / "in.png", image);
  run_successfully({"resample", folder / "in.png", folder / "out.npy", "--matrix", identity});
  const Array array = load_npy(folder / "out.npy");
  CHECK(array.extents == std::vector<std::int64_t>{16, 20});
  CHECK(array.bytes == image.pixels);
  run_successfully({"resample", folder / "out.npy", folder / "back.tif", "--matrix", identity});
  CHECK(load_image(folder / "back.tif").pixels == image.pixels);
}

TEST_CASE("float64 is read and written") {
  require_test_device();
  const ScratchFolder folder;
  std::string file = "\x93NUMPY";
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n";
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size());
  file += '\0';
  write_text(folder / "in.npy", file + header + std::string(16, '\0'));
  const Outcome outcome = run_program({"resample", folder / "in.npy", folder / "out.npy", "--zoom",
                                       "1", "--device", test_device()});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("2, float64") != std::string::npos);
  CHECK(load_npy(folder / "out.npy").type == PixelType::f64);
}

/// Limits the device memory for the lifetime of this object.
class DeviceMemory {
 public:
  explicit DeviceMemory(const char* limit) { setenv("WARPALIGN_MAX_DEVICE_MEMORY", limit, 1); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { unsetenv("WARPALIGN_MAX_DEVICE_MEMORY"); }
};

TEST_CASE("with little device memory an image is resampled in tiles, with the same result") {
  require_test_device();
  const Array input = random_array({220, 260}, PixelType::f32);
  const std::vector<std::string> rotation{"--rotate", "23.7", "--boundary", "reflect"};
  const std::vector<std::string> zoom{"--zoom", "1.3"};
  const Array rotated_result = resampled(input, rotation), larger = resampled(input, zoom);
  const DeviceMemory little("300K");  // the image takes 229 KB, and so do its coefficients
  // Both results are within 4e-7 of the largest coefficient, which is at most 4 here.
  CHECK(max_difference(resampled(input, rotation), rotated_result) < 3.2e-6);
  CHECK(max_difference(resampled(input, zoom), larger) < 3.2e-6);
}

TEST_CASE("an invalid or too small limit of device memory is an error that names it") {
  require_test_device();
  const ScratchFolder folder;
  save_npy(folder / "in.npy", random_array({220, 260}, PixelType::f32));
  for (const char* limit : {"lots", "1K"}) {
    const DeviceMemory set(limit);
    const Outcome outcome = run_program({"resample", folder / "in.npy", folder / "out.npy",
                                         "--zoom", "2", "--device", test_device()});
    CHECK(outcome.status != 0);
    CHECK(outcome.err.find("WARPALIGN_MAX_DEVICE_MEMORY") != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"in.npy"});
  }
}

}  // namespace
}  // namespace warpalign::test
