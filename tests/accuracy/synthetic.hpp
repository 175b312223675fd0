// Synthetic scenes. Each is a torus, so that its size does not limit what is drawn from it. Lengths
// are in points of the scene's raster, grey levels 0 to 255; sides are multiples of 256.
#pragma once

#include "accuracy/scene.hpp"

#include <cstdint>

namespace accuracy {

/// Fractal noise: octaves of random lattices with cubic B-splines through them, from cells of
/// `coarsest` down to `finest` (powers of two up to 256), amplitudes proportional to
/// cell^`roughness`, a standard deviation of `contrast` about 128. No detail is finer than
/// `finest`.
[[nodiscard]] Scene clouds(std::int64_t side, std::uint64_t seed, std::int64_t coarsest,
                           std::int64_t finest, double roughness, double contrast);

/// Dead leaves: ellipses of all sizes (as many per octave of radius as cover the same area), each
/// with its own grey, shading and stripes, hiding one another. Edges are two points wide.
[[nodiscard]] Scene leaves(std::int64_t side, std::uint64_t seed, double min_radius,
                           double stripes);

/// Gaussian spots, bright and dark, on clouds.
[[nodiscard]] Scene spots(std::int64_t side, std::uint64_t seed, double min_sigma,
                          double max_sigma, double one_per_area);

/// A few bright Gaussian spots on an even ground.
[[nodiscard]] Scene sparse_spots(std::int64_t side, std::uint64_t seed);

/// Dark straight strokes on a bright, slightly uneven ground: similar to a drawing or a map.
[[nodiscard]] Scene strokes(std::int64_t side, std::uint64_t seed);

}  // namespace accuracy
