// Stages: correlation of two images at every shift, scored by how much of the images overlaps.
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
  bool outlines = false;     ///< whether overlaps are found from outlines, and none are given
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

/// The outlines of image a, a rectangle, and of an image b, a parallelogram: all points
/// s along + t across, with s and t from -1 to 1, about its centre. In pixels. The mirrored image
/// has the same outline.
struct OverlapOutline {
  float half_width = 0;  ///< of a
  float half_height = 0;
  float along_x = 0;  ///< of b
  float along_y = 0;
  float across_x = 0;
  float across_y = 0;
};

/// The peaks of score = C / sqrt(N), from correlation surfaces [C, C mirrored] and overlaps
/// [N, N mirrored], both as inverse transforms leave them: times the number of a surface's pixels
/// (f32, depth 2 for each image b, or for all with `one_overlap`). The overlaps are the
/// correlations of the weights, by OverlapProductsPlan or, where it can, by OverlapCountsPlan.
/// Where all pixels of both images count, outlines may be given instead: N is then the area that
/// they have in common, and takes neither weights nor the memory that overlaps lie in. For
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
  /// The same from outlines, one for each of the images b, by a plan for outlines; `limits`: one
  /// for all, or one for each. At a shift, the centre of b is as far from the centre of a as the
  /// shift is from the centre of the limits, the nearest way round.
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

/// Half of an edge, of a direction with y above 0, and reciprocals of it: WaHalfEdge of
/// formulas/overlap.h, which says how far x and y are from 0.
struct HalfEdge {
  float x, y;
  float per_span;  ///< 1 / (2 x)
  float per_y;     ///< 1 / y
  friend bool operator==(const HalfEdge&, const HalfEdge&) = default;
};

/// An outline as kernels take it, WaOutline there: first.x second.y - first.y second.x is 0 or
/// more.
struct OutlineEdges {
  float half_width, half_height;  ///< of a
  HalfEdge first, second;         ///< of b
  friend bool operator==(const OutlineEdges&, const OutlineEdges&) = default;
};

class OverlapPeaks : public Stage {
 public:
  using Setup = OverlapPeaksSpec;

  /// One set of limits for all images b, or one for each.
  virtual void enqueue(Queue& queue, const Memory& surfaces, const Memory& overlaps,
                       std::span<const OverlapLimits> limits, Memory& records) = 0;
  /// Of a stage for outlines: one for each of the images b.
  virtual void enqueue_outlines(Queue& queue, const Memory& surfaces,
                                std::span<const OutlineEdges> outlines,
                                std::span<const OverlapLimits> limits, Memory& records) = 0;
};

}  // namespace warpalign::backend
