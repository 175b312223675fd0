// Reads the drift of a stack, as `stack --json` and `--csv` write it.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/transform.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// What a run found of a frame or a volume.
struct KnownResult {
  bool usable = true;  ///< false for one that failed; the other members are then undefined
  bool reliable = true;
  double confidence = 1;
  double correlation = 1;
  double overlap = 1;
};

/// The result for a frame.
struct KnownFrame : KnownResult {
  double significance = 0;
  /// From the pixels of the drift's origin to those of the frame: a matrix, or for CSV a similarity
  /// about the centres.
  std::optional<Affine> matrix;
  Similarity similarity;
};

/// The transform of a channel: from the pixels of the channel that was registered.
using ChannelMatrices = std::vector<Affine>;

struct DriftFile {
  std::optional<Shape> shape;  ///< of the frames, if the file tells it
  std::vector<KnownFrame> frames;
  ChannelMatrices channels;  ///< empty if the file has none
};

/// The result for a volume.
struct KnownVolume : KnownResult {
  HomogeneousMatrix matrix;  ///< from voxels of the reference to those of the volume
};

struct VolumeDriftFile {
  std::optional<Shape> shape;  ///< of the volumes, if the file tells it
  std::string motion = "affine";
  std::vector<KnownVolume> volumes;
};

/// Reads JSON or CSV of `stack`, or another file of as many affine transforms in pixels as there
/// are frames. Throws FileError, which names the file: it is damaged, or holds local or deformable
/// motion, of which it has only the mean or the affine step.
[[nodiscard]] DriftFile load_drift(const std::string& name);

/// Whether a file is JSON or CSV of `stack`. Throws FileError if it cannot be read or is damaged.
[[nodiscard]] bool is_drift(const std::string& name);

/// The channels of JSON of `stack --align-channels`, or another file of affine transforms in
/// pixels. Throws FileError.
[[nodiscard]] ChannelMatrices load_channel_matrices(const std::string& name);

/// Reads JSON of `stack` of volumes, or another file of as many affine transforms as there are
/// volumes. `grid`: of the voxels, for transforms of millimetres. Throws FileError, also for
/// transforms by which volumes cannot be warped.
[[nodiscard]] VolumeDriftFile load_volume_drift(const std::string& name,
                                                const std::optional<PointGrid>& grid);

/// Whether a file is JSON of `stack` of volumes. Throws FileError if it cannot be read or is
/// damaged.
[[nodiscard]] bool is_volume_drift(const std::string& name);

/// The CSV of `stack`. `name`: of the file, for messages. Throws FileError.
[[nodiscard]] DriftFile parse_drift_csv(const std::string& text, const std::string& name);
/// The JSON of `stack`. Throws Error(invalid_argument) without the name of the file; returns
/// nothing if the text is not JSON of `stack`.
[[nodiscard]] std::optional<DriftFile> parse_drift_json(const std::string& text);
/// The JSON of `stack` of volumes, as parse_drift_json().
[[nodiscard]] std::optional<VolumeDriftFile> parse_volume_drift_json(const std::string& text);

}  // namespace warpalign::program
