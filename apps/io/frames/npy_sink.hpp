// Writes aligned frames to one array in a .npy file.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/record_file.hpp"

namespace warpalign::program {

/// The axes are (frame, row, column), with a fourth axis of 3 for colour. A frame that was not
/// aligned is 0 everywhere, so that the array and the stack number frames alike.
class NpySink : public FrameSink {
 public:
  /// `frame`: any frame, for its shape and type. `kept`: see RecordFile. Throws FileError.
  NpySink(const std::filesystem::path& path, const LoadedImage& frame,
          std::optional<std::size_t> kept);

  [[nodiscard]] std::string name() const override { return file_.path().string(); }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem, const LoadedImage* aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override { file_.sync(); }
  void commit() override;

 private:
  LoadedImage zeros_;
  RecordFile file_;
};

}  // namespace warpalign::program
