// The readers and writers of the formats that have one file each.
#pragma once

#include "transform_files.hpp"

namespace warpalign::transform_files {

/// Each throws Error(invalid_argument) for text that is not of the format.
[[nodiscard]] TransformFile read_flirt(std::string_view text, const Geometry& geometry);
[[nodiscard]] TransformFile read_lta(std::string_view text);
[[nodiscard]] TransformFile read_afni(std::string_view text, const Geometry& geometry);
[[nodiscard]] TransformFile read_elastix(std::string_view text);
[[nodiscard]] TransformFile read_bdv(std::string_view text);
[[nodiscard]] TransformFile read_turboreg(std::string_view text);
[[nodiscard]] TransformFile read_multistackreg(std::string_view text);
[[nodiscard]] TransformFile read_npy(std::string_view bytes);
[[nodiscard]] TransformFile read_mgz(std::string_view bytes, const Geometry& geometry);

/// Each throws Error(invalid_argument) for what the format cannot hold. Those with a geometry take
/// transforms of world coordinates, except flirt, npy and mgz, which take pixels as the others do.
[[nodiscard]] std::string write_flirt(const Transform& transform, const Geometry& geometry);
[[nodiscard]] std::string write_lta(const Transform& transform, const Geometry& geometry);
[[nodiscard]] std::string write_afni(std::span<const Transform> transforms,
                                     const Geometry& geometry);
[[nodiscard]] std::string write_elastix(const Transform& transform, const Geometry& geometry);
[[nodiscard]] std::string write_bdv(std::span<const Transform> transforms);
[[nodiscard]] std::string write_turboreg(const Transform& transform, const Geometry& geometry);
[[nodiscard]] std::string write_multistackreg(std::span<const Transform> transforms);
[[nodiscard]] std::string write_npy(std::span<const Transform> transforms,
                                    const Geometry& geometry);
[[nodiscard]] std::string write_mgz(const Transform& transform, const Geometry& geometry);

}  // namespace warpalign::transform_files
