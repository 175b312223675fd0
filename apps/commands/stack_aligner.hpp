// What finds where the frames of a stack lie on the first frame's grid.
#pragma once

#include "commands/grid_map.hpp"
#include "reports/frame_motion.hpp"
#include "reports/stack_frame.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace warpalign::program {

/// A frame that has been read, and not yet been placed.
struct UpcomingFrame {
  std::size_t index = 0;
  const LoadedImage* image = nullptr;
};

/// Keeps the reference between frames, never the frames themselves.
class StackAligner {
 public:
  StackAligner() = default;
  StackAligner(const StackAligner&) = delete;
  StackAligner& operator=(const StackAligner&) = delete;
  virtual ~StackAligner() = default;

  /// Registers the next frame, which must have the first one's size. Throws warpalign::Error. If
  /// the frame's pixels are the reason, this object is left as if the frame had not been there.
  [[nodiscard]] virtual FramePlace place(const LoadedImage& frame, std::size_t index) = 0;

  /// How many frames it gains by seeing at once.
  [[nodiscard]] virtual std::size_t frames_at_once() const { return 1; }
  /// Tells it which frames are going to be placed later, in their order, where it gains by seeing
  /// more than one at once. May be called on another thread, while frames before them are placed.
  virtual void look_ahead(std::span<const UpcomingFrame> /*frames*/) {}

  /// Takes a frame that an earlier run has registered reliably. After `needs_again()` of its
  /// frames, in their order, this object is as it was in that run.
  virtual void take_again(const LoadedImage& frame, const FramePlace& place, std::size_t index) = 0;
  /// Whether frame `index` counts for frames that follow it, where `last` is the last reliable one
  /// before them.
  [[nodiscard]] virtual bool needs_again(std::size_t index, std::size_t last) const = 0;

  /// How a reliable frame lies on the grid; of this run or an earlier one, but not the first frame.
  [[nodiscard]] virtual std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                        const FramePlace& place,
                                                        std::size_t index) = 0;
  /// The local motion of the frame whose map was asked for last; null where there is none.
  [[nodiscard]] virtual const FrameMotion* motion() const { return nullptr; }
};

}  // namespace warpalign::program
