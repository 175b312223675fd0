// The transform of --initial, for the registration commands.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/registrar.hpp>

#include <functional>
#include <string>

namespace warpalign::program {

/// Loads a matrix, or fits a transform to pairs of points by least squares: a translation to one
/// point or for Motion::translation; an affine transform to three points and more for the motions
/// affine and homography; else a similarity. Throws FileError or UsageError.
[[nodiscard]] Homography load_initial_transform(const std::string& file, Motion motion);

/// The same for volumes: a translation to one point or for Motion::translation, else an affine
/// transform to four points and more, of which the registrar uses what the motion has. `moving_map`
/// is applied to the coordinates in the moving volume.
[[nodiscard]] HomogeneousMatrix load_initial_volume_transform(
    const std::string& file, Motion motion, const HomogeneousMatrix& moving_map = {});

/// Runs `work`, which passes the transform to the library or uses it. If the library refuses the
/// transform, throws UsageError with the name of the option and of the file.
void naming_initial(const std::string& file, const std::function<void()>& work);

}  // namespace warpalign::program
