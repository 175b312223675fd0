// FSL's coordinates of a volume.
#include "fsl.hpp"

#include "matrices.hpp"
#include "text.hpp"
#include "transform_files.hpp"

#include <array>
#include <string>

namespace warpalign::transform_files {
namespace {

double determinant(const std::array<double, 9>& d) {
  return d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
         d[2] * (d[3] * d[7] - d[4] * d[6]);
}

}  // namespace

HomogeneousMatrix fsl_millimetres(const PointGrid& volume) {
  HomogeneousMatrix matrix = diagonal(volume.spacing.x, volume.spacing.y, volume.spacing.z);
  // The sign is the same in RAS and in LPS coordinates.
  if (determinant(volume.direction) > 0) {
    matrix.m[0] = -volume.spacing.x;
    matrix.m[3] = volume.spacing.x * static_cast<double>(volume.shape.width - 1);
  }
  return matrix;
}

void need_both(const Geometry& geometry, const char* kind) {
  if (geometry.reference && geometry.moving) return;
  refuse(std::string(kind) + " depends on both images: give the reference and the moving image");
}

}  // namespace warpalign::transform_files
