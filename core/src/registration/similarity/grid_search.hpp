// An exhaustive search over rotation and scale at low resolution, for pairs whose log-polar spectra
// have too little in common: partial overlap, perspective, strong zoom, masks.
#pragma once

#include "registration/ones.hpp"
#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/translation_search.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A place of the moving image on the reference that the grid search proposes.
struct GridPeak {
  Affine matrix;     ///< reference pixels -> moving pixels
  double score = 0;  ///< see TranslationPeak::score
};

class GridSearch {
 public:
  GridSearch(const Device& device, const RegistrationOptions& options, Ones& ones);

  /// The best places that differ from one another, best first, at most `maximum`. Waits for the
  /// device. The result is valid until the next call.
  std::span<const GridPeak> find(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 ImagePyramid& moving, std::size_t maximum);

  /// The number of rotations and scales that the options leave to try.
  [[nodiscard]] std::size_t hypotheses() const;

 private:
  void search_scale(Stream& stream, StageClock& clock, ImagePyramid& reference,
                    ImagePyramid& moving, double scale);
  void keep_distinct(const Shape& reference, const Shape& moving, std::size_t maximum);

  RegistrationOptions options_;
  std::vector<double> scales_, rotations_;
  std::size_t batch_;  ///< of rotations that are compared at once
  TranslationSearch translation_search_;
  std::vector<GridPeak> found_;
};

}  // namespace warpalign::detail
