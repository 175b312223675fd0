// Stages: correlation of two images at every shift, scored by how much of the images overlaps.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class OverlapPeaks;
class OverlapProducts;
}  // namespace backend

/// The products of spectra that the correlation needs.
struct OverlapProductsSpec {
  Shape image;  ///< of the real images whose spectra are given; depth 1
  /// The number of images b that are correlated with a. Their spectra are stacked along the depth.
  std::int64_t batch = 1;
  bool second_channel = false;  ///< whether the images have two channels each
};

/// From the half spectra (c32) of two images a and b, computes those of two correlation surfaces
/// (depth 2, and so on for the further images b): sum_x a(x) b(x - d), and the same with b mirrored
/// about pixel (0, 0), x -> -x. The spectra are A conj(B) and A B. Of images with two channels, the
/// correlations of both are added.
class WARPALIGN_API OverlapProductsPlan {
 public:
  OverlapProductsPlan(const Device& device, const OverlapProductsSpec& spec);
  void execute(Stream& stream, const Image& a, const Image& b, Image& products) const;
  /// With two channels: a_second and b_second are the spectra of the second ones.
  void execute(Stream& stream, const Image& a, const Image& a_second, const Image& b,
               const Image& b_second, Image& products) const;

 private:
  void check_spectra(const Stream& stream, std::initializer_list<const Image*> of_a,
                     std::initializer_list<const Image*> of_b, const Image& products) const;

  Device device_;
  OverlapProductsSpec spec_;
  std::shared_ptr<backend::OverlapProducts> kernel_;
};

struct OverlapPeaksSpec {
  Shape surface;             ///< of one surface; depth 1
  std::int64_t batch = 1;    ///< as in OverlapProductsSpec
  bool one_overlap = false;  ///< whether all images b overlap with a alike
};

/// Limits on the shifts that may score.
struct OverlapLimits {
  float min_overlap = 1;  ///< minimum number of pixels in common; shifts with fewer score 0
  float reach = 0;        ///< largest distance from (centre_x, centre_y), in pixels; 0: any
  float centre_x = 0;     ///< of the allowed shifts, in pixels, on surface 0 ...
  float centre_y = 0;
  float mirrored_centre_x = 0;  ///< ... and on surface 1
  float mirrored_centre_y = 0;
  friend bool operator==(const OverlapLimits&, const OverlapLimits&) = default;
};

/// The peaks of score = C / sqrt(N), from correlation surfaces [C, C mirrored] and overlaps
/// [N, N mirrored], both as inverse transforms leave them: times the number of a surface's pixels
/// (f32, depth 2 for each image b, or for all with `one_overlap`). The overlaps are the
/// correlations of the weights, by OverlapProductsPlan or, where it can, by OverlapCountsPlan. For
/// unrelated, locally normalized images the score is of the order of 1, whatever the overlap N.
/// Shifts beyond the limits score 0, and may be the peak where no other scores more.
class WARPALIGN_API OverlapPeaksPlan {
 public:
  OverlapPeaksPlan(const Device& device, const OverlapPeaksSpec& spec);
  /// `records` gets a PeakRecord for each surface, as PeakPlan would write it for an image of the
  /// scores: two for each image b. They stay on the device.
  void execute(Stream& stream, const Image& surfaces, const Image& overlaps,
               const OverlapLimits& limits, Buffer& records) const;
  /// Each of the images b has limits of its own.
  void execute_each(Stream& stream, const Image& surfaces, const Image& overlaps,
                    std::span<const OverlapLimits> limits, Buffer& records) const;

 private:
  void enqueue(Stream& stream, const Image& surfaces, const Image& overlaps,
               std::span<const OverlapLimits> limits, Buffer& records) const;

  Device device_;
  OverlapPeaksSpec spec_;
  std::shared_ptr<backend::OverlapPeaks> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The spectra of two images. The second channels are null where there is one.
struct OverlapSpectra {
  const Memory& a;
  const Memory& b;
  const Memory* a_second = nullptr;
  const Memory* b_second = nullptr;
};

class OverlapProducts : public Stage {
 public:
  using Setup = OverlapProductsSpec;

  virtual void enqueue(Queue& queue, const OverlapSpectra& spectra, Memory& products) = 0;
};

class OverlapPeaks : public Stage {
 public:
  using Setup = OverlapPeaksSpec;

  /// One set of limits for all images b, or one for each.
  virtual void enqueue(Queue& queue, const Memory& surfaces, const Memory& overlaps,
                       std::span<const OverlapLimits> limits, Memory& records) = 0;
};

}  // namespace warpalign::backend
