// What a backend implements for the stage: conversion of samples to B-spline coefficients.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <vector>

namespace warpalign::backend {

/// How samples, or coefficients, are extended beyond their ends along one axis.
enum class Extension { mirror, reflect, periodic, clamp, fill };

/// What core derives from a PrefilterSpec. Filtering one axis of n samples gives n + 2 margin
/// coefficients; coefficient k belongs to position k - margin. Samples outside 0 ... n - 1 are
/// found by `extension`, where `fill` means `cval`. This mapping of indices is correct for every
/// size, including 1.
struct PrefilterDetails {
  Extension extension = Extension::mirror;
  int margin = 0;
  std::vector<double> poles;     ///< of the recursive filter, for `exact` and `iir_line`
  int horizon = 0;               ///< samples n after which |z|^n <= 2^-24 for the slowest pole z
  std::vector<double> fir_taps;  ///< b(-K) ... b(K), for `fir`
};

class Prefilter : public Stage {
 public:
  /// The spec has a prefilter. It has a batch for three dimensions alone; otherwise its shape holds
  /// all arrays.
  struct Setup {
    const PrefilterSpec& spec;
    const PrefilterDetails& details;
  };

  virtual void enqueue(Queue& queue, const Memory& samples, Memory& coefficients) = 0;
};

}  // namespace warpalign::backend
