// The backend's interface of the stage: conversion of samples to B-spline coefficients.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <vector>

namespace warpalign::backend {

/// The extension of samples or coefficients beyond the ends of an axis.
enum class Extension { mirror, reflect, periodic, clamp, fill };

/// Values that core derives from a PrefilterSpec. Filtering one axis of n samples gives n + 2
/// margin coefficients; coefficient k belongs to position k - margin. `extension` gives the samples
/// outside 0 ... n - 1, where `fill` means `cval`. It must be correct for every size, including 1.
struct PrefilterDetails {
  Extension extension = Extension::mirror;
  int margin = 0;
  std::vector<double> poles;     ///< of the recursive filter, for `exact` and `iir_line`
  int horizon = 0;               ///< samples n after which |z|^n <= 2^-24 for the slowest pole z
  std::vector<double> fir_taps;  ///< b(-K) ... b(K), for `fir`
};

class Prefilter : public Stage {
 public:
  /// The spec has a prefilter. Its count is above 1 only in three dimensions; otherwise its shape
  /// includes all arrays.
  struct Setup {
    const PrefilterSpec& spec;
    const PrefilterDetails& details;
  };

  virtual void enqueue(Queue& queue, const Memory& samples, Memory& coefficients) = 0;
};

}  // namespace warpalign::backend
