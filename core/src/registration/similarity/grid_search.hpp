// An exhaustive search over rotation and scale at low resolution, for pairs whose log-polar spectra
// have too little in common: partial overlap, perspective, strong zoom, masks.
#pragma once

#include "registration/ones.hpp"
#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/translation_search.hpp"

#include <warpalign/registrar.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// How fine the grid is.
struct GridSteps {
  double rotation;    ///< degrees
  double scale;       ///< a factor above 1
  std::int64_t side;  ///< of the padded frame; images of one scale and square shape are then about
                      ///< 0.4 times as wide
};
inline constexpr GridSteps standard_grid{4, 1.25, 256};
inline constexpr GridSteps fine_grid{3, 1.189207115, 320};  // four scales an octave

class GridSearch {
 public:
  /// `fields`: null to compare grey levels; else directions of edges are compared.
  GridSearch(const Device& device, const RegistrationOptions& options, Ones& ones,
             const GridSteps& steps = standard_grid, GradientFields* fields = nullptr);

  /// The best places that differ from one another, best first, at most `maximum`. Waits for the
  /// device. The result is valid until the next call.
  std::span<const TranslationPeak> find(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                        ImagePyramid& moving, std::size_t maximum);

 private:
  void search_scale(Stream& stream, StageClock& clock, ImagePyramid& reference,
                    ImagePyramid& moving, double scale);
  void keep_distinct(const Shape& reference, const Shape& moving, std::size_t maximum);

  RegistrationOptions options_;
  GridSteps steps_;
  std::vector<double> scales_, rotations_;
  TranslationSearch translation_search_;
  std::vector<TranslationPeak> found_;
};

}  // namespace warpalign::detail
