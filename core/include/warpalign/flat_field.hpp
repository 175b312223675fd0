// Flat fields: the uneven illumination that all tiles of a mosaic have in common.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace warpalign {

/// Divides tiles by their uneven illumination. A pixel is even light times the flat field, plus
/// dark: the model of the BaSiC paper (Peng et al. 2017).
class WARPALIGN_API FlatField {
 public:
  /// `flat` is the illumination, in any unit: its mean becomes 1. `dark` is what the camera reports
  /// without light, of the same shape; without it, 0. Throws Error(invalid_argument) for complex
  /// pixels, another shape, a flat field that is not above 0 and finite everywhere, and a dark
  /// image that is not finite.
  explicit FlatField(const HostImage& flat, const std::optional<HostImage>& dark = {});
  FlatField(FlatField&&) noexcept;
  FlatField& operator=(FlatField&&) noexcept;
  ~FlatField();

  /// Of the tiles. Never throws Error.
  [[nodiscard]] Shape shape() const noexcept;
  /// The flat field as dense rows, of mean 1. Never throws Error.
  [[nodiscard]] const std::vector<float>& values() const noexcept;

  /// Writes dense rows of the tile's type: (tile - dark) / flat + the mean of `dark`. Integers are
  /// rounded to the nearest, and clipped to the limits of their type. `output` may be the memory of
  /// a dense tile. Any number of threads may call it. Throws Error(invalid_argument) for another
  /// shape, and for types other than u8, u16 and f32.
  void apply(const HostImage& tile, void* output) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Estimates a flat field from the tiles themselves: the median over the tiles of their local
/// means, each divided by the mean of its tile, smoothed by a polynomial of degree 4 (a
/// retrospective correction, as Singh et al. 2014 describe it). Tiles are added one after the other
/// and not kept. It needs tens of tiles whose content lies at different pixels: what most tiles
/// show at the same pixels counts as illumination.
class WARPALIGN_API FlatFieldEstimator {
 public:
  /// For tiles of this shape. Throws Error(invalid_argument) as FlatField does for `dark`, and for
  /// a depth above 1.
  explicit FlatFieldEstimator(const Shape& tile, const std::optional<HostImage>& dark = {});
  FlatFieldEstimator(FlatFieldEstimator&&) noexcept;
  FlatFieldEstimator& operator=(FlatFieldEstimator&&) noexcept;
  ~FlatFieldEstimator();

  /// Adds a tile of any real type. A tile that contains numbers that are not finite, or is on
  /// average not brighter than `dark`, tells nothing of the illumination and is ignored. Throws
  /// Error(invalid_argument) for another shape or complex pixels.
  void add(const HostImage& tile);
  /// The illumination as dense rows, of mean 1 and above 0. Throws Error(invalid_argument) if fewer
  /// than 3 tiles counted.
  [[nodiscard]] std::vector<float> estimate() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
