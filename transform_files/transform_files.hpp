// Files in which other tools keep transforms. docs/howto/transform-files.md explains the
// conventions.
#pragma once

#include <warpalign/transform.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::transform_files {

enum class Format {
  itk,            ///< text of ITK, SimpleITK and ANTs (.tfm, .txt)
  itk_matlab,     ///< an affine transform of ANTs (.mat)
  flirt,          ///< a matrix of FSL's FLIRT (.mat)
  lta,            ///< FreeSurfer's linear transform array (.lta)
  afni,           ///< rows of 12 numbers of AFNI (.aff12.1D)
  elastix,        ///< elastix' TransformParameters (.txt)
  bdv,            ///< the view registrations of BigDataViewer and BigStitcher (.xml)
  turboreg,       ///< the landmarks of ImageJ's TurboReg and StackReg (.txt)
  multistackreg,  ///< transforms of the slices of a stack, of ImageJ's MultiStackReg (.txt)
  npy,  ///< matrices for (x, y, 1) or (x, y, z, 1), as pystackreg's, or pixels' displacements
        ///< (.npy)
  mgz   ///< warps of FreeSurfer (.mgz), which the caller decompresses and compresses
};

/// The pixels of the images, in world coordinates.
struct Geometry {
  std::optional<PointGrid> reference{};
  std::optional<PointGrid> moving{};
};

/// What a file holds.
struct TransformFile {
  std::vector<Transform> transforms{};  ///< several: one for each frame or view
  Geometry geometry{};                  ///< of the images, if the file tells
  std::string initial{};  ///< elastix: the file of the transform to apply first, or nothing
};

/// All formats, in the order of Format.
[[nodiscard]] std::span<const std::string_view> format_names();
[[nodiscard]] std::optional<Format> format_named(std::string_view name);
/// The format of a file, by its first bytes and its name; nothing if it is none of these.
[[nodiscard]] std::optional<Format> format_of(std::string_view name, std::string_view bytes);
/// The format of a file to write, by its name alone; nothing if the name does not tell.
[[nodiscard]] std::optional<Format> format_of_name(std::string_view name);

/// Reads a file's bytes. The transforms have the coordinates of the format: for mgz pixels if the
/// file does not tell both geometries. FLIRT's matrices need the geometry of both images. Throws
/// Error(invalid_argument), without the name of the file.
[[nodiscard]] TransformFile read(Format format, std::string_view bytes,
                                 const Geometry& geometry = {});
/// The bytes of a file. Transforms of other coordinates than those of the format are converted,
/// which needs the geometry of both images. Throws Error(invalid_argument) for transforms that the
/// format cannot hold.
[[nodiscard]] std::string write(Format format, std::span<const Transform> transforms,
                                const Geometry& geometry = {});

/// Our own archives of all kinds of transforms (.npz), which Transform.save writes in Python.
[[nodiscard]] bool is_npz(std::string_view bytes);
/// Throws Error(invalid_argument), without the name of the file.
[[nodiscard]] TransformFile read_npz(std::string_view bytes);
/// All transforms get the file's geometry. Throws Error(invalid_argument) above 4 GiB.
[[nodiscard]] std::string write_npz(const TransformFile& file);

/// Pairs of points: rows of (x, y) or (x, y, z).
struct Landmarks {
  int dimensions = 2;
  std::vector<double> reference, moving;
};

/// BigWarp's landmarks (.csv): its moving points, and its fixed ones as those of the reference.
/// Leaves out pairs that are switched off or lack a point. Throws Error(invalid_argument).
[[nodiscard]] Landmarks read_bigwarp(std::string_view text);
[[nodiscard]] std::string write_bigwarp(const Landmarks& landmarks);

}  // namespace warpalign::transform_files
