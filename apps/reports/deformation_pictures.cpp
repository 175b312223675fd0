// Pictures of a deformation: the overlay with a bent grid, and maps in colour.
#include "reports/deformation_pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warpalign::program {
namespace {

using MapColour = std::array<std::uint8_t, 3>;

constexpr MapColour line_colour{255, 221, 0};
constexpr MapColour undetermined_colour{40, 80, 200};
constexpr int lines_across = 24;
constexpr std::int64_t least_cell = 8;  // pixels

void put_pixel(LoadedImage& image, std::int64_t x, std::int64_t y, const MapColour& colour) {
  const std::ptrdiff_t at = 3 * (y * image.width + x);
  std::copy(colour.begin(), colour.end(), image.samples<std::uint8_t>().begin() + at);
}

/// Draws a picture of an array (height, width), pixel by pixel.
template <class ColourOf>
LoadedImage map_picture(const Array& values, ColourOf&& colour_of) {
  const std::int64_t height = values.extents[0];
  const std::int64_t width = values.extents[1];
  LoadedImage picture = make_image(width, height, 3, PixelType::u8);
  const auto samples = values.samples<float>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      put_pixel(picture, x, y, colour_of(samples[static_cast<std::size_t>(y * width + x)]));
    }
  }
  return picture;
}

std::uint8_t colour_level(float share) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0F, 1.0F)));
}

/// Which cell of the grid each pixel of the reference shows.
std::vector<std::array<std::int64_t, 2>> shown_cells(const Deformation& deformation,
                                                     const Shape& shape) {
  const std::int64_t side = std::max(shape.width, shape.height);
  const auto cell = static_cast<double>(std::max(least_cell, side / lines_across));
  const Transform bspline = deformation.transform.members().front();
  std::vector<std::array<std::int64_t, 2>> result;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p = bspline(Point{static_cast<double>(x), static_cast<double>(y)});
      result.push_back({static_cast<std::int64_t>(std::floor(p.x / cell)),
                        static_cast<std::int64_t>(std::floor(p.y / cell))});
    }
  }
  return result;
}

}  // namespace

LoadedImage draw_deformed_overlay(const LoadedImage& reference, const LoadedImage& aligned,
                                  const Deformation& deformation, const Shape& moving,
                                  const Array& agreement) {
  const auto map = [&](std::int64_t x, std::int64_t y) {
    return deformation.transform(Point{static_cast<double>(x), static_cast<double>(y)});
  };
  const LoadedImage panels = draw_mapped_overlay(reference, aligned, map, moving);
  const Shape shape = reference.shape();
  const std::int64_t gap = panels.width - 2 * shape.width;
  LoadedImage picture =
      make_image(panels.width + gap + shape.width, shape.height, 3, PixelType::u8);
  std::fill(picture.pixels.begin(), picture.pixels.end(), std::byte{255});
  const auto cell = shown_cells(deformation, shape);
  const auto from = panels.samples<std::uint8_t>();
  const auto correlations = agreement.samples<float>();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::copy_n(from.begin() + 3 * y * panels.width, 3 * panels.width,
                picture.samples<std::uint8_t>().begin() + 3 * y * picture.width);
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const auto below = i + static_cast<std::size_t>(y + 1 < shape.height ? shape.width : 0);
      const auto right = i + (x + 1 < shape.width ? 1 : 0);
      // The reference is the green component of the first panel.
      const auto gray = static_cast<std::uint8_t>(
          from[static_cast<std::size_t>(3 * (y * panels.width + x) + 1)] / 2);
      const bool on_line = cell[i] != cell[below] || cell[i] != cell[right];
      const bool undetermined = std::isnan(correlations[i]);
      const MapColour base = undetermined ? MapColour{static_cast<std::uint8_t>(gray / 2),
                                                      static_cast<std::uint8_t>(gray / 2 + 20),
                                                      static_cast<std::uint8_t>(gray / 2 + 90)}
                                          : MapColour{gray, gray, gray};
      put_pixel(picture, panels.width + gap + x, y, on_line ? line_colour : base);
    }
  }
  return picture;
}

LoadedImage draw_jacobians(const Array& determinants) {
  return map_picture(determinants, [](float determinant) -> MapColour {
    // Folds, which warpalign's fields do not have, would be black.
    if (!(determinant > 0)) return {0, 0, 0};
    const float change = std::log(determinant) / std::log(3.0F);
    const std::uint8_t faded = colour_level(1 - std::abs(change));
    return change > 0 ? MapColour{255, faded, faded} : MapColour{faded, faded, 255};
  });
}

LoadedImage draw_agreement(const Array& agreement) {
  return map_picture(agreement, [](float correlation) -> MapColour {
    if (std::isnan(correlation)) return undetermined_colour;
    const std::uint8_t gray = colour_level(correlation);
    return {gray, gray, gray};
  });
}

}  // namespace warpalign::program
