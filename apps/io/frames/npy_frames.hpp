// Reads the frames of an array in a .npy file.
#pragma once

#include "io/codecs/npy_layout.hpp"
#include "io/frames/frame_source.hpp"
#include "io/frames/input_file.hpp"
#include "io/frames/tiff_axes.hpp"

#include <filesystem>
#include <span>

namespace warpalign::program {

/// Reads one frame at a time. Without PlaneChoice::axes, the array's axes are (frame, row, column),
/// with a fourth axis of 3 for colour; an array of two axes is one frame. Frames whose samples are
/// not contiguous are gathered from the file, which is then mapped into memory.
class NpyFrames : public FrameSource {
 public:
  /// Throws FileError.
  NpyFrames(const std::filesystem::path& path, const PlaneChoice& choice);
  ~NpyFrames() override;

  [[nodiscard]] FrameCount count() const override { return {planes_.frames(), true}; }
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override;
  [[nodiscard]] const RecordingFormat* recording() const override { return &format_; }

 private:
  struct Axis {
    std::size_t extent = 1;
    std::size_t stride = 0;  ///< samples between neighbours
  };

  void understand_axes(const PlaneChoice& choice);
  [[nodiscard]] Axis& axis_of(char letter);
  [[nodiscard]] std::size_t max_file_samples() const;
  void find_whole_planes();
  void choose_planes(const PlaneChoice& choice);
  void map();
  [[nodiscard]] bool has_dense_planes() const;
  [[nodiscard]] LoadedImage read(std::int64_t plane) const;
  void gather(std::uint64_t start, std::span<std::byte> plane) const;

  std::string name_;
  std::string stem_;
  InputFile file_;
  NpyLayout layout_;
  Axis t_;
  Axis z_;
  Axis c_;
  Axis y_;
  Axis x_;
  Axis s_;
  char slowest_ = 'T';
  std::size_t samples_ = 1;   ///< of the array
  std::size_t promised_ = 1;  ///< frames or slices according to the header
  std::size_t whole_ = 1;     ///< those that the file holds completely
  bool numbered_ = false;
  int channels_ = 1;
  FramePages planes_;  ///< numbered with the channel varying fastest, then z
  RecordingFormat format_;
  std::size_t next_ = 0;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace warpalign::program
