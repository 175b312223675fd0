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
  Shape moving;     ///< of the moving image whose f32 cubic coefficients (mirror) are given
  int reference_margin = 0;  ///< as in SimilaritySumsSpec
  int moving_margin = 1;
  bool masked = false;
  int cell = 8;       ///< side of the cells in reference pixels, 2 to 64
  double sigma = 12;  ///< standard deviation of the Gaussian that says what is local, in pixels
};

/// What is known of the light before a closer look.
struct IlluminationPrior {
  double gain = 1;       ///< of the whole pictures: moving = gain reference + offset
  double reference = 0;  ///< mean of the reference's pixels in common
  double moving = 0;     ///< mean of the moving image's
  double strength = 0;   ///< variance of the reference, in squared grey levels, below which the
                         ///< local gain leans towards `gain`; > 0
};

/// For each cell of the reference the gain g and the offset o that fit moving(matrix(p)) =
/// g reference(p) + o + slope . (p - centre) best in the least squares sense around the cell's
/// centre, weighted by a Gaussian of the distance in cells:
/// g = (cov(r, m) + strength gain) / (var(r) + strength), where each image is freed of its own
/// plane first. Without that the slopes of uneven light in both pass for a gain.
class WARPALIGN_API IlluminationPlan {
 public:
  IlluminationPlan(const Device& device, const IlluminationSpec& spec);
  /// `images.light` is not used. `field`: c32 of field_shape(), (g, o) at the cells' centres.
  void execute(Stream& stream, const SimilarityImages& images, const Affine& matrix,
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
    /// Of cells 0, 1, ... away from a cell, along either axis.
    const std::vector<float>& weights;
  };

  virtual void enqueue(Queue& queue, const SimilarityMemory& images, const Affine& matrix,
                       const IlluminationPrior& prior, Memory& field) = 0;
};

}  // namespace warpalign::backend
