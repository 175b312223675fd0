// The five cases of the paper's Fig. 6, as rotations and scales of real photographs, on every
// device.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/registrar.hpp>

#include <cmath>

namespace {

using warpalign::PixelType;

struct Case {
  const char* photograph;
  double rotation_deg;
  double scale;
};

double angle_between(double a, double b) { return std::abs(std::remainder(a - b, 360.0)); }

// The largest error that a registration may have.
struct Tolerance {
  double rotation_deg;
  double scale;   // relative
  double corner;  // pixels, times the case's scale
};

// The accuracy required of the paper's pipeline: a quarter of a degree, 1 %. The steps of its grid
// are 0.47 degrees and 1.6 %; the sub-pixel fit provides the rest. Such errors move a corner, 271
// pixels from the centre, by up to 4.5 px times the scale.
const Tolerance of_fast{0.25, 0.01, 4.5};
// The refinement must reach 0.02 px at the 95th percentile, which is how far these angles and
// scales move a corner.
const Tolerance of_refined{0.0042, 7.4e-5, 0.02};

void check_case(const warpalign::Device& device, bool fast, const Case& c) {
  CAPTURE(c.photograph);
  CAPTURE(fast);
  warpalign::RegistrationOptions options;
  options.fast = fast;
  const Tolerance& most = fast ? of_fast : of_refined;
  const warpalign::Shape shape{384, 384, 1};
  const auto pair = test::cut(test::photograph(c.photograph),
                              {shape, shape, {c.rotation_deg, c.scale, {17.3, -11.8}}, 1.5});
  const auto reference = test::rounded<std::uint8_t>(pair.reference);
  const auto moving = test::rounded<std::uint8_t>(pair.moving);
  const auto found = warpalign::register_images(device, {reference.data(), PixelType::u8, 384, 384},
                                                {moving.data(), PixelType::u8, 384, 384}, options);
  CAPTURE(found.similarity.rotation_deg);
  CAPTURE(found.similarity.scale);
  CAPTURE(found.significance);
  CHECK(found.reliable);
  CHECK(found.refined == !fast);
  CHECK(angle_between(found.similarity.rotation_deg, c.rotation_deg) <= most.rotation_deg);
  CHECK(std::abs(found.similarity.scale / c.scale - 1) <= most.scale);
  CHECK(test::max_corner_distance(found.matrix, pair.truth, shape) <= most.corner * c.scale);
}

}  // namespace

TEST_CASE("photographs: the five cases of Fig. 6") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const bool fast : {true, false}) {
      check_case(device, fast, {"bridge.jpg", 135, 1});
      check_case(device, fast, {"bee.jpg", 315, 1.35});
      check_case(device, fast, {"citrus.jpg", 335, 1});
      check_case(device, fast, {"hubble.jpg", 21, 1.04});
      check_case(device, fast, {"retina.jpg", 200, 1.6});
    }
  });
}

TEST_CASE("photographs: unrelated photographs are unreliable") {
  const warpalign::Shape shape{384, 384, 1};
  const char* names[] = {"bridge.jpg", "bee.jpg", "citrus.jpg", "hubble.jpg", "retina.jpg"};
  std::vector<std::vector<std::uint8_t>> pictures;
  for (const char* name : names) {
    const auto pair = test::cut(test::photograph(name), {shape, shape, {}, 1.5});
    pictures.push_back(test::rounded<std::uint8_t>(pair.reference));
  }
  const auto check = [&](const warpalign::Device& device, bool fast) {
    CAPTURE(fast);
    warpalign::RegistrationOptions options;
    options.fast = fast;
    warpalign::Registrar registrar(device, options);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      registrar.set_reference({pictures[i].data(), PixelType::u8, 384, 384});
      for (std::size_t j = 0; j < pictures.size(); ++j) {
        CAPTURE(names[i]);
        CAPTURE(names[j]);
        const auto found = registrar.align({pictures[j].data(), PixelType::u8, 384, 384});
        CAPTURE(found.significance);
        CHECK(found.reliable == (i == j));
      }
    }
  };
  test::on_every_device([&](const warpalign::Device& device) {
    check(device, true);
    check(device, false);
  });
}
