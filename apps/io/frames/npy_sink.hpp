// Writes aligned frames to one array in a .npy file.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/record_file.hpp"
#include "io/frames/recording_format.hpp"

namespace warpalign::program {

/// The axes are (frame, slice, channel, row, column), without those of a single slice or channel,
/// and with a last axis of 3 for colour. A frame that was not aligned is 0 everywhere, so that the
/// array and the stack number frames alike.
class NpySink : public FrameSink {
 public:
  /// `plane`: any plane, for its shape and type. `kept`: see RecordFile. Throws FileError.
  NpySink(const std::filesystem::path& path, const LoadedImage& plane,
          std::optional<std::size_t> kept, const RecordingFormat& format = {});

  [[nodiscard]] std::string name() const override { return file_.path().string(); }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem,
             std::span<const LoadedImage> aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override { file_.sync(); }
  void commit() override;

 private:
  [[nodiscard]] std::vector<std::byte> header(std::size_t frames) const;

  LoadedImage zeros_;
  std::size_t slices_;
  std::size_t channels_;
  RecordFile file_;
};

}  // namespace warpalign::program
