// Stages: correlation of two images at every shift, normalized by the overlap.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace warpalign {

namespace backend {
class OverlapPeaks;
class OverlapProducts;
struct OutlineEdges;
}  // namespace backend

/// The products of spectra that the correlation needs.
struct OverlapProductsSpec {
  Shape image;  ///< of the real images of the spectra; depth 1
  /// The number of images b that are correlated with a. Their spectra are stacked along the depth.
  std::int64_t batch = 1;
  bool second_channel = false;  ///< whether the images have two channels each
};

/// From the half spectra (c32) of an image a and the images b, computes the half spectra of two
/// correlation surfaces per image b, stacked along the depth: sum_x a(x) b(x - d), and the same
/// with b mirrored about pixel (0, 0), x -> -x. The spectra are A conj(B) and A B. For images with
/// two channels, the correlations of both channels are added.
class WARPALIGN_API OverlapProductsPlan {
 public:
  OverlapProductsPlan(const Device& device, const OverlapProductsSpec& spec);
  void execute(Stream& stream, const Image& a, const Image& b, Image& products) const;
  /// With two channels: a_second and b_second are the spectra of the second channels.
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
  bool one_overlap = false;  ///< whether all images b have the same overlap with a
  bool outlines = false;     ///< whether the overlaps are computed from outlines
};

/// Limits of the shifts. A shift beyond the limits has the score 0.
struct OverlapLimits {
  float min_overlap = 1;  ///< smallest overlap, in pixels
  float reach = 0;        ///< largest distance from (centre_x, centre_y), in pixels; 0: unlimited
  float centre_x = 0;     ///< centre of the allowed shifts, in pixels, on surface 0
  float centre_y = 0;
  float mirrored_centre_x = 0;  ///< the same on surface 1
  float mirrored_centre_y = 0;
  /// Two bands, in 1 / pixels: a shift at (dx, dy) from the centre is allowed only if
  /// first_x dx + first_y dy is in [-1, 1], and the same holds for the second band. A band of zeros
  /// allows every shift.
  float first_x = 0;
  float first_y = 0;
  float second_x = 0;
  float second_y = 0;
  friend bool operator==(const OverlapLimits&, const OverlapLimits&) = default;
};

/// The outlines of image a, a rectangle, and of an image b, a parallelogram, in pixels. The
/// parallelogram consists of the points s along + t across about its centre, with s and t from -1
/// to 1. The mirrored image has the same outline.
struct OverlapOutline {
  float half_width = 0;  ///< of a
  float half_height = 0;
  float along_x = 0;  ///< of b
  float along_y = 0;
  float across_x = 0;
  float across_y = 0;
};

/// Finds the peaks of score = C / sqrt(N), from correlation surfaces [C, C mirrored] and overlaps
/// [N, N mirrored]. For unrelated, locally normalized images the score is of the order of 1,
/// regardless of the overlap N.
///
/// Surfaces and overlaps are unnormalised inverse transforms, so they contain a factor of the
/// number of pixels of a surface (f32, depth 2 for each image b, or one pair of overlaps for all
/// with `one_overlap`). The overlaps are the correlations of the weights, from OverlapProductsPlan
/// or OverlapCountsPlan. For images without masks, outlines can replace them: N is then the area of
/// the intersection of the outlines, which needs neither weights nor memory for overlaps.
///
/// A shift beyond the limits can be the peak if no other shift has a positive score.
class WARPALIGN_API OverlapPeaksPlan {
 public:
  OverlapPeaksPlan(const Device& device, const OverlapPeaksSpec& spec);
  /// `records` (on the device) receives a PeakRecord for each surface, two for each image b, as
  /// PeakPlan writes it for an image of the scores.
  void execute(Stream& stream, const Image& surfaces, const Image& overlaps,
               const OverlapLimits& limits, Buffer& records) const;
  /// The same with separate limits for each image b.
  void execute_each(Stream& stream, const Image& surfaces, const Image& overlaps,
                    std::span<const OverlapLimits> limits, Buffer& records) const;
  /// The same from one outline per image b, if the spec has `outlines`. `limits`: one for all
  /// images, or one for each. The offset between the centres of b and a is the offset of the shift
  /// from the centre of the limits, modulo the size of the surface.
  void execute_outlines(Stream& stream, const Image& surfaces,
                        std::span<const OverlapOutline> outlines,
                        std::span<const OverlapLimits> limits, Buffer& records) const;

 private:
  void enqueue(Stream& stream, const Image& surfaces, const Image& overlaps,
               std::span<const OverlapLimits> limits, Buffer& records) const;
  void check_call(const Stream& stream, const Image& surfaces,
                  std::span<const OverlapLimits> limits, const Buffer& records) const;

  Device device_;
  OverlapPeaksSpec spec_;
  std::shared_ptr<backend::OverlapPeaks> kernel_;
  std::shared_ptr<std::vector<backend::OutlineEdges>> edges_;  ///< of an execution with outlines
};

}  // namespace warpalign

namespace warpalign::backend {

/// The spectra of two images. The second channels are null for images with one channel.
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

/// Half of an edge, with y > 0, and reciprocals of its components: WaHalfEdge of
/// formulas/overlap.h, which defines the smallest x and y.
struct HalfEdge {
  float x, y;
  float per_span;  ///< 1 / (2 x)
  float per_y;     ///< 1 / y
  friend bool operator==(const HalfEdge&, const HalfEdge&) = default;
};

/// An outline in the form of the kernels (WaOutline of formulas/overlap.h), with
/// first.x second.y - first.y second.x >= 0.
struct OutlineEdges {
  float half_width, half_height;  ///< of a
  HalfEdge first, second;         ///< of b
  friend bool operator==(const OutlineEdges&, const OutlineEdges&) = default;
};

class OverlapPeaks : public Stage {
 public:
  using Setup = OverlapPeaksSpec;

  /// `limits`: one for all images b, or one for each.
  virtual void enqueue(Queue& queue, const Memory& surfaces, const Memory& overlaps,
                       std::span<const OverlapLimits> limits, Memory& records) = 0;
  /// For a stage with `outlines`: one outline per image b.
  virtual void enqueue_outlines(Queue& queue, const Memory& surfaces,
                                std::span<const OutlineEdges> outlines,
                                std::span<const OverlapLimits> limits, Memory& records) = 0;
};

}  // namespace warpalign::backend
