// The program refuses limits on fixed parameters by core's rule.
#include "io/usage_error.hpp"
#include "options/registration_options.hpp"

#include <warpalign/motion_limits.hpp>

#include <doctest/doctest.h>

#include <map>

namespace warpalign::test {
namespace {

using namespace program;

bool is_refused(const std::string& motion, void (*limit)(RegistrationChoices&)) {
  RegistrationChoices choices;
  choices.motion = motion;
  limit(choices);
  try {
    static_cast<void>(registration_options_of(choices));
    return false;
  } catch (const UsageError&) {
    return true;
  }
}

TEST_CASE("motion limits: options are refused exactly if the motion fixes their parameter") {
  const std::map<std::string, Motion> motions{
      {"similarity", Motion::similarity}, {"rigid", Motion::rigid},
      {"rotation", Motion::rotation},     {"translation", Motion::translation},
      {"affine", Motion::affine},         {"homography", Motion::homography},
      {"auto", Motion::automatic}};
  for (const auto& [name, motion] : motions) {
    CAPTURE(name);
    const auto scale = [](RegistrationChoices& choices) { choices.scale_range = "0.5,2"; };
    const auto angle = [](RegistrationChoices& choices) { choices.angle_range = "-10,10"; };
    const auto shift = [](RegistrationChoices& choices) { choices.max_shift = "10"; };
    const auto spectrum = [](RegistrationChoices& choices) {
      choices.by_name["spectrum"] = "gradient";
    };
    CHECK(is_refused(name, scale) == fixes_scale(motion));
    CHECK(is_refused(name, angle) == fixes_rotation(motion));
    CHECK(is_refused(name, shift) == fixes_translation(motion));
    CHECK(is_refused(name, spectrum) == ignores_spectrum(motion));
  }
}

}  // namespace
}  // namespace warpalign::test
