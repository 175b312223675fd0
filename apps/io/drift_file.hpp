// Reads the drift of a stack, as `stack --json` and `--csv` write it.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/transform.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The result for a frame.
struct KnownFrame {
  bool usable = true;  ///< false for a frame that failed; the other members are then undefined
  bool reliable = true;
  double confidence = 1;
  double correlation = 1;
  double overlap = 1;
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

/// Reads JSON or CSV of `stack`, or another file of as many affine transforms in pixels as there
/// are frames. Throws FileError, which names the file: it is damaged, or holds local motion, of
/// which it has only the mean.
[[nodiscard]] DriftFile load_drift(const std::string& name);

/// The channels of JSON of `stack --align-channels`, or another file of affine transforms in
/// pixels. Throws FileError.
[[nodiscard]] ChannelMatrices load_channel_matrices(const std::string& name);

/// The CSV of `stack`. `name`: of the file, for messages. Throws FileError.
[[nodiscard]] DriftFile parse_drift_csv(const std::string& text, const std::string& name);
/// The JSON of `stack`. Throws Error(invalid_argument) without the name of the file; returns
/// nothing if the text is not JSON of `stack`.
[[nodiscard]] std::optional<DriftFile> parse_drift_json(const std::string& text);

}  // namespace warpalign::program
