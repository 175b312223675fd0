// The interface of classes that align the frames of a stack to the grid of one of them.
#pragma once

#include "commands/grid_map.hpp"
#include "reports/frame_motion.hpp"
#include "reports/stack_frame.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// A frame that has been read but not aligned yet.
struct UpcomingFrame {
  std::size_t index = 0;
  const LoadedImage* image = nullptr;
};

/// Whether a frame registers to the drift's origin.
enum class Trial {
  reliable,
  unreliable,
  unusable  ///< its pixels cannot be used
};

/// Keeps the reference between frames, but no frames.
class StackAligner {
 public:
  StackAligner() = default;
  StackAligner(const StackAligner&) = delete;
  StackAligner& operator=(const StackAligner&) = delete;
  virtual ~StackAligner() = default;

  /// Starts again from this image: its grid is the drift's origin. `index`: its frame's index, or
  /// nothing for an image that is not part of the stack. Throws warpalign::Error.
  virtual void set_origin(const LoadedImage& image, std::optional<std::size_t> index) = 0;
  /// Registers frames to the drift's origin, before any frame is placed, and keeps the results for
  /// place(). Returns one trial a frame. Throws warpalign::Error, except if pixels cause it.
  [[nodiscard]] virtual std::vector<Trial> try_frames(std::span<const UpcomingFrame> frames) = 0;

  /// Registers the next frame, which must have the size of the origin. Throws warpalign::Error.
  /// If the pixels of the frame cause the error, the state of this object does not change.
  [[nodiscard]] virtual FrameAlignment place(const LoadedImage& frame, std::size_t index) = 0;

  /// The number of frames that are faster to register together.
  [[nodiscard]] virtual std::size_t frames_at_once() const { return 1; }
  /// Announces the frames that will be placed next, in order, so that an implementation can
  /// register them together. May be called on another thread while earlier frames are placed.
  virtual void register_early(std::span<const UpcomingFrame> /*frames*/) {}

  /// Adds a frame that an earlier run registered reliably. After all frames of that run with
  /// needs_finished() have been added in order, the state equals that of the earlier run.
  virtual void add_finished(const LoadedImage& frame, const FrameAlignment& place,
                            std::size_t index) = 0;
  /// The same for every frame of that run that could be used, reliable or not, without its pixels.
  /// To be called before add_finished().
  virtual void note(const FrameAlignment& /*place*/, std::size_t /*index*/) {}
  /// Whether frame `index` affects later frames. `last`: the last reliable frame before them.
  [[nodiscard]] virtual bool needs_finished(std::size_t index, std::size_t last) const = 0;

  /// Maps the grid to a reliable frame of this run or an earlier one, except the drift's origin.
  [[nodiscard]] virtual std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                        const FrameAlignment& place,
                                                        std::size_t index) = 0;
  /// The local motion of the frame of the last map_of() call, or null without local motion.
  [[nodiscard]] virtual const FrameMotion* motion() const { return nullptr; }
  /// Whether frames have FrameAlignment::spread.
  [[nodiscard]] virtual bool has_spread() const { return motion() != nullptr; }
};

}  // namespace warpalign::program
