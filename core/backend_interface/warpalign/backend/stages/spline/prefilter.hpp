// What a backend implements for the stage: from samples to B-spline coefficients.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <vector>

namespace warpalign::backend {

/// How samples, or coefficients, go on beyond their ends along one axis.
enum class Extension { mirror, reflect, periodic, clamp, fill };

/// What core derives from a PrefilterSpec. Filtering one axis of n samples gives n + 2 margin
/// coefficients; coefficient k belongs to position k - margin. Samples outside 0 ... n - 1 are
/// found by `extension`, `fill` meaning `cval`; index mapping alone makes every size right, 1
/// included.
struct PrefilterDetails {
  Extension extension = Extension::mirror;
  int margin = 0;
  std::vector<double> poles;     ///< exact, iir_line
  int horizon = 0;               ///< samples in which |z|^n falls below 2^-24, for the slowest pole
  std::vector<double> fir_taps;  ///< fir: b(-K) ... b(K)
};

class Prefilter : public Stage {
 public:
  struct Setup {
    const PrefilterSpec& spec;
    const PrefilterDetails& details;
  };

  virtual void enqueue(Queue& queue, const Memory& samples, Memory& coefficients) = 0;
};

}  // namespace warpalign::backend
