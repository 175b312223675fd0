// Writes aligned frames to one array in a .npy file.
#pragma once

#include "io/atomic_file.hpp"
#include "io/frames/array_layout.hpp"
#include "io/frames/frame_sink.hpp"

#include <optional>

namespace warpalign::program {

/// An array with the axes that ArrayLayout gives. A frame that was not aligned is 0 everywhere, so
/// that the array and the stack number frames alike. If the frames are not the slowest axis, the
/// file has its full size from the start, and the blocks of each frame are written where they
/// belong.
class NpySink : public FrameSink {
 public:
  /// `plane`: any plane, for its shape and type. `kept`: the number of frames that an earlier run
  /// has written, or nothing for a run that leaves no unfinished file behind. `count`: the number
  /// of frames, if known. Throws FileError, also if the axes need the number of frames and it is
  /// not known.
  NpySink(const std::filesystem::path& path, const LoadedImage& plane,
          std::optional<std::size_t> kept, const RecordingFormat& format = {},
          std::optional<std::size_t> count = {});

  [[nodiscard]] std::string name() const override { return path_.string(); }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem,
             std::span<const LoadedImage> aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override { file_.sync(); }
  void commit() override;

 private:
  [[nodiscard]] std::vector<std::byte> header(std::size_t frames) const;
  void open(std::optional<std::size_t> kept);

  std::filesystem::path path_;
  PixelType type_;
  ArrayLayout layout_;
  std::size_t count_;  ///< the frames of an array in which they are not contiguous
  AtomicFile file_;
  std::size_t header_bytes_;
  std::size_t frames_ = 0;  ///< written
};

}  // namespace warpalign::program
