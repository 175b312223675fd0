// The registration options by name.
#include "registration/checked_options.hpp"

#include <warpalign/error.hpp>
#include <warpalign/registration_options.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace {

using warpalign::option_value;
using warpalign::OptionKind;
using warpalign::RegistrationOptionInfo;
using warpalign::RegistrationOptions;
using warpalign::RegistrationOptionValue;

/// A value that differs from the default.
RegistrationOptionValue other_value(const RegistrationOptionInfo& info) {
  const RegistrationOptionValue value = option_value({}, info.name);
  switch (info.kind) {
    case OptionKind::flag:
      return !std::get<bool>(value);
    case OptionKind::integer:
      return std::get<int>(value) + 1;
    case OptionKind::real:
      return std::get<double>(value) + 0.25;
    case OptionKind::choice:
      break;
  }
  return std::string(info.choices[info.choices.front() == std::get<std::string>(value) ? 1 : 0]);
}

TEST_CASE("registration options: setting one by name changes no other") {
  for (const RegistrationOptionInfo& set : warpalign::registration_options()) {
    CAPTURE(std::string(set.name));
    RegistrationOptions options;
    set_option(options, set.name, other_value(set));
    for (const RegistrationOptionInfo& info : warpalign::registration_options()) {
      CAPTURE(std::string(info.name));
      const RegistrationOptionValue before = option_value({}, info.name);
      CHECK((option_value(options, info.name) == before) == (info.name != set.name));
    }
    CHECK(option_value(options, set.name) == other_value(set));
  }
}

TEST_CASE("registration options: each name sets its member") {
  RegistrationOptions options;
  set_option(options, "motion", std::string("rigid"));
  CHECK(options.motion == warpalign::Motion::rigid);
  set_option(options, "search", std::string("thorough"));
  CHECK(options.search == warpalign::Effort::thorough);
  set_option(options, "modality", std::string("auto"));
  CHECK(options.modality == warpalign::Modality::automatic);
  set_option(options, "spectrum", std::string("gradient"));
  CHECK(options.spectrum == warpalign::SpectrumSignal::gradient);
  set_option(options, "window", std::string("none"));
  CHECK(options.window == warpalign::Window::none);
  set_option(options, "max_threads", 3);
  CHECK(options.max_threads == 3);
  set_option(options, "max_shift", 7);
  CHECK(options.max_shift == 7.0);
}

TEST_CASE("registration options: wrong names and kinds are refused") {
  RegistrationOptions options;
  using warpalign::Error;
  CHECK_THROWS_AS(set_option(options, "max_angel", 1.0), Error);
  CHECK_THROWS_AS((void)option_value(options, "max_angel"), Error);
  CHECK_THROWS_AS(set_option(options, "motion", std::string("projective")), Error);
  CHECK_THROWS_AS(set_option(options, "motion", 1), Error);
  CHECK_THROWS_AS(set_option(options, "fast", 1), Error);
  CHECK_THROWS_AS(set_option(options, "candidates", 1.0), Error);
  CHECK_THROWS_AS(set_option(options, "min_scale", true), Error);
}

TEST_CASE("registration options: numbers beyond their ranges are refused") {
  const auto refused = [](std::string_view name, const RegistrationOptionValue& value) {
    RegistrationOptions options;
    set_option(options, name, value);
    try {
      (void)warpalign::detail::checked(options);
    } catch (const warpalign::Error& error) {
      CHECK(error.kind() == warpalign::ErrorKind::invalid_argument);
      CHECK(std::string(error.what()).find(name) != std::string::npos);
      return true;
    }
    return false;
  };
  for (const RegistrationOptionInfo& info : warpalign::registration_options()) {
    CAPTURE(std::string(info.name));
    if (info.kind == OptionKind::real) {
      CHECK(refused(info.name, std::numeric_limits<double>::quiet_NaN()));
      CHECK(refused(info.name, std::numeric_limits<double>::infinity()));
    }
    if (info.kind != OptionKind::integer) continue;
    CHECK(refused(info.name, static_cast<int>(info.minimum) - 1));
    CHECK(refused(info.name, static_cast<int>(info.maximum) + 1));
    CHECK_FALSE(refused(info.name, static_cast<int>(info.minimum)));
    CHECK_FALSE(refused(info.name, static_cast<int>(info.maximum)));
  }
  CHECK(refused("max_threads", warpalign::RegistrationOptions::thread_limit + 1));
}

TEST_CASE("registration options: the fast pipeline refuses what the table says") {
  for (const RegistrationOptionInfo& info : warpalign::registration_options()) {
    if (info.name == "fast") continue;
    CAPTURE(std::string(info.name));
    RegistrationOptions options;
    options.fast = true;
    set_option(options, info.name, other_value(info));
    if (info.with_fast) {
      CHECK_NOTHROW((void)warpalign::detail::checked(options));
    } else {
      CHECK_THROWS_AS((void)warpalign::detail::checked(options), warpalign::Error);
    }
  }
}

}  // namespace
