// How much a transform changes when a file keeps only its samples.
#pragma once

#include "transform_files/transform_files.hpp"

#include <string>

namespace warpalign::program {

/// Remarks how far the displacement field that a file of this transform holds is from it, at the
/// middles of the grid's cells, where linear interpolation is worst. Says nothing about fields that
/// are written as they are.
void remark_on_sampling(const std::string& name, const Transform& transform,
                        const transform_files::Geometry& geometry);

}  // namespace warpalign::program
