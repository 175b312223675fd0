// Boundary modes: how an image continues beyond its edges.
#pragma once

#include <warpalign/export.hpp>

#include <string>

namespace warpalign {

/// Boundary modes, with SciPy's names and meanings. For samples a b c d:
enum class Boundary {
  mirror,         ///< d c b | a b c d | c b a    mirrored about the edge samples' centres
  reflect,        ///< c b a | a b c d | d c b    mirrored about the edge (SciPy's grid-mirror)
  nearest,        ///< a a a | a b c d | d d d    the edge sample repeated
  constant,       ///< k k k | a b c d | k k k    cval at every point outside [0, n - 1]; no
                  ///<                            interpolation between the edge and cval
  grid_constant,  ///< k k k | a b c d | k k k    cval at the grid points outside, interpolated
  wrap,           ///< points repeat with period n - 1: the edge samples coincide
  grid_wrap       ///< b c d | a b c d | a b c    samples repeat with period n
};

/// The name of a mode: "mirror", "reflect", "nearest", "constant", "grid-constant", "wrap" or
/// "grid-wrap".
[[nodiscard]] WARPALIGN_API const char* name_of(Boundary boundary) noexcept;
/// The mode with the given name; "grid-mirror" is another name of reflect. Throws
/// Error(invalid_argument), which lists the names, for an unknown one.
[[nodiscard]] WARPALIGN_API Boundary boundary_of_name(const std::string& name);

}  // namespace warpalign
