// The argument checks that the stages share: what they refuse, and the largest values they accept.
#include "device/check.hpp"

#include <doctest/doctest.h>
#include <array>
#include <functional>
#include <limits>
#include <vector>

using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::Shape;
namespace detail = warpalign::detail;

namespace {

void refuses(const std::function<void()>& check, const char* message) {
  CAPTURE(message);
  try {
    check();
    FAIL_CHECK("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == warpalign::ErrorKind::invalid_argument);
    CHECK_MESSAGE(std::string(error.what()).find("the stage") != std::string::npos, error.what());
    CHECK_MESSAGE(std::string(error.what()).find(message) != std::string::npos, error.what());
  }
}

void shape(const Shape& shape, std::int64_t max_depth = 1) {
  detail::check_shape("the stage", "the image", shape, max_depth);
}

void array(const Shape& shape) { detail::check_array("the stage", "the array", shape); }

void batch(const Shape& shape, int dimensions, std::int64_t count) {
  detail::check_batch("the stage", "the arrays", shape, dimensions, count);
}

constexpr std::int64_t side = detail::max_side;
constexpr std::int64_t extent = std::int64_t{1} << 30;

}  // namespace

TEST_CASE("check: an image has pixels, and no side beyond the limit") {
  CHECK_NOTHROW(shape({1, 1, 1}));
  CHECK_NOTHROW(shape({side, side, 1}));
  CHECK_NOTHROW(shape({3, 4, 7}, 7));
  for (const Shape& empty : {Shape{0, 4, 1}, {3, 0, 1}, {3, 4, 0}, {-3, 4, 1}}) {
    refuses([&] { shape(empty); }, "the image is empty");
  }
  for (const Shape& large : {Shape{side + 1, 4, 1}, {3, side + 1, 1}, {3, 4, 2}}) {
    refuses([&] { shape(large); }, "larger than 16384 x 16384");
  }
  refuses([&] { shape({3, 4, 8}, 7); }, "larger than 16384 x 16384 x 7");
}

TEST_CASE("check: an array has 1 to 2^30 samples along every axis") {
  CHECK_NOTHROW(array({1, 1, 1}));
  CHECK_NOTHROW(array({extent, extent, extent}));
  for (const Shape& wrong : {Shape{0, 4, 5},
                             {3, 0, 5},
                             {3, 4, 0},
                             {extent + 1, 4, 5},
                             {3, extent + 1, 5},
                             {3, 4, extent + 1}}) {
    refuses([&] { array(wrong); }, "every extent must be 1 to 2^30");
  }
}

TEST_CASE("check: a batch has 1 to 2^30 arrays, and no more samples than an array") {
  CHECK_NOTHROW(batch({3, 4, 1}, 2, 1));
  CHECK_NOTHROW(batch({3, 4, 1}, 2, extent));
  CHECK_NOTHROW(batch({3, 1, 1}, 1, extent));
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, extent + 1}) {
    refuses([&] { batch({3, 4, 1}, 2, count); }, "a batch holds 1 to 2^30 arrays");
  }
  refuses([&] { batch({3, 4, 2}, 3, extent); }, "the arrays is 3 x 4 x 2147483648");
  refuses([&] { batch({3, 2, 1}, 1, extent); }, "the arrays is 3 x 2147483648");
}

TEST_CASE("check: one, two or three dimensions") {
  for (const int dimensions : {1, 2, 3}) {
    CHECK_NOTHROW(detail::check_dimensions("the stage", dimensions));
  }
  for (const int dimensions : {-1, 0, 4}) {
    refuses([&] { detail::check_dimensions("the stage", dimensions); },
            "the number of dimensions must be 1, 2 or 3");
  }
}

TEST_CASE("check: the sets of grey and of real types") {
  const auto grey = [](PixelType type) { detail::check_grey("the stage", "the image", type); };
  const auto real = [](PixelType type) { detail::check_real("the stage", "the image", type); };
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
    CHECK_NOTHROW(grey(type));
    CHECK_NOTHROW(real(type));
  }
  for (const PixelType type : {PixelType::i8, PixelType::i16, PixelType::f64}) {
    refuses([&] { grey(type); }, "the image must be u8, u16 or f32, not ");
    CHECK_NOTHROW(real(type));
  }
  refuses([&] { real(PixelType::c32); }, "the image has complex pixels");
}

TEST_CASE("check: every entry of a transform is finite, and each array has a transform") {
  const std::array<double, 2> bad{std::numeric_limits<double>::quiet_NaN(),
                                  -std::numeric_limits<double>::infinity()};
  CHECK_NOTHROW(detail::check_transform("the stage", {}));
  for (std::size_t entry = 0; entry < 16; ++entry) {
    HomogeneousMatrix transform;
    transform.m[entry] = bad[entry % bad.size()];
    refuses([&] { detail::check_transform("the stage", transform); }, "NaN or infinity");
  }
  std::vector<HomogeneousMatrix> three(3);
  CHECK_NOTHROW(detail::check_transforms("the stage", three, 3));
  for (const std::int64_t arrays : {1, 2, 4}) {
    refuses([&] { detail::check_transforms("the stage", three, arrays); },
            "there are 3 transforms");
  }
  three.back().m[0] = bad[0];
  refuses([&] { detail::check_transforms("the stage", three, 3); }, "NaN or infinity");
}
