// What a backend implements for each stage: one class, one enqueue.
//
// Core has validated everything before it calls these: types, shapes, sizes and devices match the
// plan. All geometry is decided in core and handed over as numbers. An enqueue allocates nothing,
// compiles nothing and does not wait; failures are thrown as warpalign::Error.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/stages/apodize.hpp>
#include <warpalign/stages/complex_bilinear.hpp>
#include <warpalign/stages/cross_power.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/log_polar.hpp>
#include <warpalign/stages/magnitude.hpp>
#include <warpalign/stages/peak.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/sobel.hpp>
#include <warpalign/stages/statistics.hpp>
#include <warpalign/stages/warp.hpp>

#include <vector>

namespace warpalign::backend {

/// Common base: owned by plans, destroyed before the driver.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
};

class Sobel : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
};

class Statistics : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& record) = 0;
};

class Apodize : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const Memory& statistics,
                       Memory& canvas) = 0;
};

class RealFft : public Stage {
 public:
  virtual void enqueue_forward(Queue& queue, const Memory& real, Memory& spectrum) = 0;
  virtual void enqueue_inverse(Queue& queue, Memory& spectrum, Memory& real) = 0;
};

class Magnitude : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& spectrum, Memory& magnitude) = 0;
};

class LogPolar : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& magnitude, Memory& output) = 0;
};

class CrossPower : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& output) = 0;
};

class Peak : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, Memory& records) = 0;
};

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
  virtual void enqueue(Queue& queue, const Memory& samples, Memory& coefficients) = 0;
};

/// What core derives from an InterpolateSpec: how a coordinate is brought to where coefficients
/// are, and how the neighbours' indices go on beyond the ends. Per axis of n samples:
/// - bounds of the point: `reject_outside`: points outside [0, n - 1] give cval (constant);
///   `clamp_to_margin`: points are clamped to [-reach, n - 1 + reach], reach = margin + degree,
///   where every neighbour is the same coefficient (nearest);
///   `period_minus_one`: points are brought into [0, n - 1] modulo n - 1 (wrap); `free`: any point.
/// - neighbour k (integer, in sample positions) is coefficient k + margin; outside of
///   0 ... n + 2 margin - 1 it is found by `extension` on the coefficients' own axis of n + 2
///   margin.
struct InterpolateDetails {
  enum class Points { free, reject_outside, clamp_to_margin, period_minus_one };
  Points points = Points::free;
  Extension extension = Extension::mirror;
  int margin = 0;
};

/// The points to evaluate at: one of the three, chosen by which pointer is set.
struct SamplingPoints {
  const Transform* transform = nullptr;
  const Memory* coordinates = nullptr;
  const LogPolarSampling* log_polar = nullptr;
};

class Interpolate : public Stage {
 public:
  /// `gradient` is null when only values are wanted.
  virtual void enqueue(Queue& queue, const Memory& coefficients, const SamplingPoints& points,
                       Memory& output, Memory* gradient) = 0;
};

class ComplexBilinear : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& image, const Memory& x, const Memory& y,
                       Memory& output) = 0;
};

class Warp : public Stage {
 public:
  virtual void enqueue(Queue& queue, const Memory& input, const Affine& output_to_input,
                       Memory& output) = 0;
};

}  // namespace warpalign::backend
