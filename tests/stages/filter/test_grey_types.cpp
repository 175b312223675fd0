// Stages of intensity images accept u8, u16 and f32, and refuse every other type when a plan is
// created.
#include "support/devices.hpp"

#include <doctest/doctest.h>
#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/filter/sobel.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/error.hpp>

#include <string>

namespace {

using warpalign::Device;
using warpalign::PixelType;
using warpalign::Shape;

template <class Make>
void refused(Make make) {
  try {
    make();
    FAIL("was accepted");
  } catch (const warpalign::Error& error) {
    CHECK(error.kind() == warpalign::ErrorKind::invalid_argument);
    const std::string message = error.what();
    CHECK_MESSAGE(message.find("must be u8, u16 or f32") != std::string::npos, message);
  }
}

}  // namespace

TEST_CASE("grey types: all others are refused by name when a plan is created") {
  test::on_every_device([](const Device& device) {
    const Shape shape{8, 6, 1};
    for (const PixelType type : {PixelType::i8, PixelType::i16, PixelType::u32, PixelType::i32,
                                 PixelType::f16, PixelType::f64, PixelType::c32}) {
      CAPTURE(warpalign::name_of(type));
      refused([&] {
        warpalign::ApodizePlan(device, {shape, shape, warpalign::Window::hann, type});
      });
      refused([&] { warpalign::ImpulseFilterPlan(device, {type, shape}); });
      refused([&] { warpalign::SmoothPlan(device, {type, shape, shape, {0, 0}, 1, 1, false}); });
      refused([&] { warpalign::SobelPlan(device, {type, shape}); });
      refused([&] { warpalign::StatisticsPlan(device, {shape, type}); });
      refused([&] { warpalign::PadVolumePlan(device, {type, shape, shape, 0.1}); });
    }
  });
}
