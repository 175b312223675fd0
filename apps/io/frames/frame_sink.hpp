// Where a stack's aligned frames go.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <string>

namespace warpalign::program {

/// Takes the frames in their order. What it writes appears whole or not at all.
class FrameSink {
 public:
  FrameSink() = default;
  FrameSink(const FrameSink&) = delete;
  FrameSink& operator=(const FrameSink&) = delete;
  virtual ~FrameSink() = default;

  /// As the user named it.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Whether frame `index` is still to be written; false for what an earlier run has left. `stem`:
  /// Frame::stem.
  [[nodiscard]] virtual bool lacks(std::size_t index, const std::string& stem) const = 0;
  /// Writes a frame that is lacking. `aligned`: null where the frame could not be aligned. Throws
  /// FileError.
  virtual void write(std::size_t index, const std::string& stem, const LoadedImage* aligned) = 0;
  /// What an aligned frame is written as.
  [[nodiscard]] virtual std::string name_of(std::size_t index, const std::string& stem) const = 0;
  /// Flushes what was written to the disk. Throws FileError.
  virtual void sync() {}
  /// Finishes a file that holds all frames. Throws FileError.
  virtual void commit() {}
};

}  // namespace warpalign::program
