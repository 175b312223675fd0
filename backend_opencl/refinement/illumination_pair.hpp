// The arguments of the illumination kernels that the forms for GPUs and CPUs share: the two images
// and the prior.
#pragma once

#include "device/kernel.hpp"
#include "device/stage.hpp"
#include "refinement/two_float_matrix.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>

namespace warpalign::opencl {

/// The prior gain, and the intensities that are subtracted before summation.
struct IlluminationLeaning {
  explicit IlluminationLeaning(const IlluminationPrior& prior)
      : means{{static_cast<cl_float>(prior.reference), static_cast<cl_float>(prior.moving)}},
        gain{{static_cast<cl_float>(prior.gain), static_cast<cl_float>(prior.strength)}} {}
  cl_float2 means, gain;
};

class IlluminationPair {
 public:
  IlluminationPair(const IlluminationSpec& spec, const CallSite& site)
      : masked_(spec.masked),
        projective_(spec.projective),
        reference_width_(extent(spec.reference.width, site)),
        reference_height_(extent(spec.reference.height, site)),
        reference_margin_(spec.reference_margin),
        width_(extent(spec.moving.width, site)),
        height_(extent(spec.moving.height, site)),
        moving_margin_(spec.moving_margin) {}

  /// Launches "illumination_moments". `rest` are the arguments after those of the images.
  template <class... Rest>
  void launch_moments(Kernel& kernel, cl_command_queue queue, const Grid& grid,
                      const backend::SimilarityMemory& images, const Homography& matrix,
                      const cl_float2& means, const Rest&... rest) const {
    const TwoFloatMatrix m(matrix);
    const auto launch = [&](const auto&... optional) {
      kernel.launch(queue, grid, images.reference, reference_width_, reference_height_,
                    reference_margin_, images.coefficients, width_, height_, moving_margin_,
                    m.x_row.nearest, m.x_row.rest, m.y_row.nearest, m.y_row.rest, means,
                    optional..., rest...);
    };
    const auto launch_masked = [&](const auto&... row) {
      if (!masked_) return launch(row...);
      launch(row..., *images.reference_weight, *images.moving_weight);
    };
    if (!projective_) return launch_masked();
    launch_masked(m.w_row.nearest, m.w_row.rest);
  }

 private:
  bool masked_, projective_;
  cl_int reference_width_, reference_height_, reference_margin_;
  cl_int width_, height_, moving_margin_;
};

}  // namespace warpalign::opencl
