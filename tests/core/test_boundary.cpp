// The names of boundary modes.
#include <warpalign/boundary.hpp>
#include <warpalign/error.hpp>

#include <doctest/doctest.h>
#include <string>

using warpalign::Boundary;

TEST_CASE("boundary: every mode has SciPy's name, and is found by it") {
  const std::pair<Boundary, const char*> names[] = {
      {Boundary::mirror, "mirror"},      {Boundary::reflect, "reflect"},
      {Boundary::nearest, "nearest"},    {Boundary::constant, "constant"},
      {Boundary::wrap, "wrap"},          {Boundary::grid_constant, "grid-constant"},
      {Boundary::grid_wrap, "grid-wrap"}};
  for (const auto& [boundary, name] : names) {
    CHECK(std::string(warpalign::name_of(boundary)) == name);
    CHECK(warpalign::boundary_of_name(name) == boundary);
  }
  CHECK(warpalign::boundary_of_name("grid-mirror") == Boundary::reflect);
}

TEST_CASE("boundary: an unknown name is refused with the list of names") {
  for (const char* name : {"", "Mirror", "grid_wrap", "mirror ", "periodic"}) {
    try {
      (void)warpalign::boundary_of_name(name);
      FAIL("accepted " << name);
    } catch (const warpalign::Error& error) {
      CHECK(error.kind() == warpalign::ErrorKind::invalid_argument);
      for (const char* known : {"mirror", "reflect", "nearest", "constant", "grid-constant", "wrap",
                                "grid-wrap", "grid-mirror"}) {
        CHECK(std::string(error.what()).find(known) != std::string::npos);
      }
    }
  }
}
