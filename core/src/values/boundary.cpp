// Names of boundary modes.
#include <warpalign/boundary.hpp>

#include <warpalign/error.hpp>

#include <array>
#include <utility>

namespace warpalign {

namespace {

constexpr std::array<std::pair<Boundary, const char*>, 7> names{{
    {Boundary::mirror, "mirror"},
    {Boundary::reflect, "reflect"},
    {Boundary::nearest, "nearest"},
    {Boundary::constant, "constant"},
    {Boundary::grid_constant, "grid-constant"},
    {Boundary::wrap, "wrap"},
    {Boundary::grid_wrap, "grid-wrap"},
}};

}  // namespace

const char* name_of(Boundary boundary) noexcept {
  for (const auto& [value, name] : names) {
    if (value == boundary) return name;
  }
  return "?";
}

Boundary boundary_of_name(const std::string& name) {
  if (name == "grid-mirror") return Boundary::reflect;
  std::string known;
  for (const auto& [value, known_name] : names) {
    if (name == known_name) return value;
    known += (known.empty() ? "" : ", ") + std::string(known_name);
  }
  throw Error(ErrorKind::invalid_argument,
              "'" + name + "' is not a boundary mode; known: " + known + ", grid-mirror");
}

}  // namespace warpalign
