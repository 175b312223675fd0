// Stage: the local gain and offset between two registered images.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class Illumination;
}

struct IlluminationSpec {
  Shape reference;  ///< of the f32 reference image; depth 1
  Shape moving;     ///< of the moving image, which is passed as f32 cubic coefficients (mirror)
  int reference_margin = 0;  ///< as in SimilaritySumsSpec
  int moving_margin = 1;
  bool masked = false;
  int cell = 8;             ///< side of the cells in reference pixels, 2 to 64
  double sigma = 12;        ///< standard deviation of the Gaussian neighbourhood, in pixels
  bool projective = false;  ///< whether matrices may be projective; slower
};

/// The prior of the local gain and offset.
struct IlluminationPrior {
  double gain = 1;       ///< the gain of the whole images: moving = gain reference + offset
  double reference = 0;  ///< mean of the reference over the overlap
  double moving = 0;     ///< mean of the moving image over the overlap
  double strength = 0;   ///< variance of the reference, in squared intensities, below which the
                         ///< local gain tends towards `gain`; > 0
};

/// Computes the gain and offset field: for each cell of the reference, the gain g and the offset o
/// that fit moving(matrix(p)) = g reference(p) + o + slope . (p - centre) best in the least squares
/// sense around the cell's centre, weighted by a Gaussian of the distance in cells:
/// g = (cov(r, m) + strength gain) / (var(r) + strength), after a plane was subtracted from each
/// image. Without this subtraction, the slopes of uneven illumination would appear as a gain.
class WARPALIGN_API IlluminationPlan {
 public:
  IlluminationPlan(const Device& device, const IlluminationSpec& spec);
  /// `images.illumination` is ignored. `field`: c32 of field_shape(), with (g, o) for the centre of
  /// each cell.
  void execute(Stream& stream, const SimilarityImages& images, const Homography& matrix,
               const IlluminationPrior& prior, Image& field) const;

  [[nodiscard]] static Shape field_shape(const Shape& reference, int cell);

 private:
  Device device_;
  IlluminationSpec spec_;
  std::shared_ptr<backend::Illumination> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class Illumination : public Stage {
 public:
  struct Setup {
    const IlluminationSpec& spec;
    /// The weights of cells at distances 0, 1, ... from a cell, along either axis.
    const std::vector<float>& weights;
  };

  virtual void enqueue(Queue& queue, const SimilarityMemory& images, const Homography& matrix,
                       const IlluminationPrior& prior, Memory& field) = 0;
};

}  // namespace warpalign::backend
