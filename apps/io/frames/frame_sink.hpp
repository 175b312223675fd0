// The interface of the outputs that hold a stack's aligned frames.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace warpalign::program {

/// Writes frames in order. Each file appears complete or not at all.
class FrameSink {
 public:
  FrameSink() = default;
  FrameSink(const FrameSink&) = delete;
  FrameSink& operator=(const FrameSink&) = delete;
  virtual ~FrameSink() = default;

  /// The name that the user gave.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Whether frame `index` must still be written; false if an earlier run has written it. `stem`:
  /// Frame::stem.
  [[nodiscard]] virtual bool lacks(std::size_t index, const std::string& stem) const = 0;
  /// Whether write() takes the image that was registered instead of all planes of the frame.
  [[nodiscard]] virtual bool takes_registered() const { return false; }
  /// Writes a frame for which lacks() is true. `aligned`: its planes; empty if the frame could not
  /// be aligned. Throws FileError.
  virtual void write(std::size_t index, const std::string& stem,
                     std::span<const LoadedImage> aligned) = 0;
  /// The name under which an aligned frame is written.
  [[nodiscard]] virtual std::string name_of(std::size_t index, const std::string& stem) const = 0;
  /// Flushes the data written so far to the disk. Throws FileError.
  virtual void sync() {}
  /// Completes a file that holds all frames. Throws FileError.
  virtual void commit() {}
};

}  // namespace warpalign::program
