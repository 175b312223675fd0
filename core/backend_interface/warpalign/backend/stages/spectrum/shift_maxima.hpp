// Stage: the maxima of a correlation surface's scores, apart from the main one.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class ShiftMaxima;
}
namespace detail {
template <class Record>
class Results;
}

struct ShiftMaximaSpec {
  Shape surface;           ///< of one surface; depth 1
  std::int64_t batch = 1;  ///< as in OverlapProductsSpec
};

/// The shifts to look at, in pixels. Shifts are counted from the shift at `origin`, periodically.
struct ShiftRegion {
  int slice = 0;  ///< the surface: those of each image b are straight and mirrored in turn
  int origin_x = 0, origin_y = 0;
  int reach_x = 0, reach_y = 0;  ///< largest shifts; at most half of the surface's side
  int main_reach = 0;            ///< how far the main maximum may be from the origin, 0 to 3
  float min_overlap = 1;         ///< shifts with a smaller overlap, in pixels, score 0
  float ignored = 0.5F;  ///< other maxima below this fraction of the main one need not be reported
  float ring = 0;        ///< radius of the ring about the main maximum
};

/// The overlaps of images without masks.
struct CentredOutline {
  OverlapOutline outline;
  float centre_x = 0, centre_y = 0;  ///< the shift at which the centres of both images meet
};

/// Scores as OverlapPeaksPlan defines them; 0 if there is no such shift.
struct ShiftMaxima {
  float main = 0;   ///< the highest score about the origin
  float other = 0;  ///< the highest local maximum that is no neighbour of the main one
  float ring = 0;   ///< the highest score at the ring's radius, within 3 pixels
};

/// Finds the maxima of score = C / sqrt(N) within a region of one surface, from the correlation
/// surfaces C, and from overlaps N or outlines, as OverlapPeaksPlan reads them.
class WARPALIGN_API ShiftMaximaPlan {
 public:
  ShiftMaximaPlan(const Device& device, const ShiftMaximaSpec& spec);
  /// Waits for the result.
  [[nodiscard]] ShiftMaxima execute(Stream& stream, const Image& surfaces, const Image& overlaps,
                                    const ShiftRegion& region) const;
  [[nodiscard]] ShiftMaxima execute_outline(Stream& stream, const Image& surfaces,
                                            const CentredOutline& outline,
                                            const ShiftRegion& region) const;

 private:
  void check(const Stream& stream, const Image& surfaces, const ShiftRegion& region) const;
  [[nodiscard]] ShiftRegion wrapped(const ShiftRegion& region) const;
  [[nodiscard]] ShiftMaxima fetch(Stream& stream) const;

  Device device_;
  ShiftMaximaSpec spec_;
  std::shared_ptr<backend::ShiftMaxima> kernel_;
  std::shared_ptr<detail::Results<ShiftMaxima>> parts_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// An outline in the form of the kernels, and its centre.
struct CentredEdges {
  OutlineEdges edges{};
  float centre_x = 0, centre_y = 0;
};

class ShiftMaxima : public Stage {
 public:
  using Setup = ShiftMaximaSpec;

  /// The number of records that each execution writes: the results are their maxima.
  static constexpr int parts = 128;

  /// `outline`: null if `overlaps` are to be read.
  virtual void enqueue(Queue& queue, const Memory& surfaces, const Memory& overlaps,
                       const CentredEdges* outline, const ShiftRegion& region, Memory& records) = 0;
};

}  // namespace warpalign::backend
