// Makes the image by which a frame of several planes is registered.
#pragma once

#include "io/frames/frame_source.hpp"
#include "io/frames/tiff_axes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The user's choice among the channels and the planes in z of each frame.
struct RegisteredBy {
  enum class Slices { one, maximum, mean };

  std::optional<int> channel;
  std::vector<double> weights;  ///< of all channels, in place of `channel`
  std::optional<int> slice;     ///< for Slices::one
  Slices slices = Slices::one;
  bool only_channel = false;        ///< the other channels are not read
  bool only_slice = false;          ///< the other slices are not read
  std::optional<std::string> axes;  ///< as in PlaneChoice
  std::optional<double> nodata;     ///< the value of missing samples; NaN in any case
  bool is_optional = false;         ///< the first channel and slice are taken without a choice

  /// The planes that are read.
  [[nodiscard]] PlaneChoice planes() const;
};

class RegisteredImage {
 public:
  /// `format`: that of the frames, or null. `file`: for messages. Throws UsageError if the choice
  /// is incomplete, or does not fit to the planes.
  RegisteredImage(const RegisteredBy& by, const RecordingFormat* format, const std::string& file);

  /// Sets the image of a frame with several planes: one of them unchanged, or the weighted sum or
  /// the projection in f32, in which the largest value of an integer type is 1. With a nodata
  /// value, the image of any frame is f32, with NaN where a sample that it needs is missing; the
  /// frame's own pixels then are its planes.
  void set_image(Frame& frame) const;

 private:
  [[nodiscard]] std::vector<float> levels_of(const Frame& frame, std::size_t slice) const;

  RegisteredBy by_;
  std::size_t slices_ = 1;
  std::size_t channels_ = 1;
  std::size_t first_ = 0;    ///< the slice, or the first of the projection
  std::size_t channel_ = 0;  ///< without weights
};

}  // namespace warpalign::program
