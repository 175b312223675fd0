// Stage: the maxima of a correlation surface's scores, apart from the main one.
#pragma once

#include <warpalign/backend/stage.hpp>
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
  Shape surface;  ///< of one surface; depth 1
};

/// The shifts to look at, in pixels. Shifts are counted from the shift at `origin`, periodically.
struct ShiftRegion {
  int origin_x = 0, origin_y = 0;
  int reach_x = 0, reach_y = 0;  ///< largest shifts; at most half of the surface's side
  int main_reach = 0;            ///< how far the main maximum may be from the origin, 0 to 3
  float min_overlap = 1;         ///< shifts with a smaller overlap, in pixels, score 0
  float ignored = 0.5F;  ///< other maxima below this fraction of the main one need not be reported
  float ring = 0;        ///< radius of the ring about the main maximum
};

/// Scores as OverlapPeaksPlan defines them; 0 if there is no such shift.
struct ShiftMaxima {
  float main = 0;   ///< the highest score about the origin
  float other = 0;  ///< the highest local maximum that is no neighbour of the main one
  float ring = 0;   ///< the highest score at the ring's radius, within 1.5 pixels
};

/// Finds the maxima of score = C / sqrt(N) within a region, from the first of the two correlation
/// surfaces of one image b and its overlaps, as OverlapPeaksPlan reads them.
class WARPALIGN_API ShiftMaximaPlan {
 public:
  ShiftMaximaPlan(const Device& device, const ShiftMaximaSpec& spec);
  /// Waits for the result.
  [[nodiscard]] ShiftMaxima execute(Stream& stream, const Image& surfaces, const Image& overlaps,
                                    const ShiftRegion& region) const;

 private:
  Device device_;
  ShiftMaximaSpec spec_;
  std::shared_ptr<backend::ShiftMaxima> kernel_;
  std::shared_ptr<detail::Results<ShiftMaxima>> parts_;
};

}  // namespace warpalign

namespace warpalign::backend {

class ShiftMaxima : public Stage {
 public:
  using Setup = ShiftMaximaSpec;

  /// The number of records that each execution writes: the results are their maxima.
  static constexpr int parts = 128;

  virtual void enqueue(Queue& queue, const Memory& surfaces, const Memory& overlaps,
                       const ShiftRegion& region, Memory& records) = 0;
};

}  // namespace warpalign::backend
