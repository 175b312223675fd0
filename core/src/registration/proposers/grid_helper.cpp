// Another thread that takes a part of what a grid search compares.
#include "registration/proposers/grid_helper.hpp"

namespace warpalign::detail {

GridHelper::GridHelper(const Device& device, const GridSteps& steps,
                       const GridFrames::Batches& batches, bool by_directions)
    : by_directions_(by_directions),
      ones_(device, max_searched_levels),
      fields_(device, ones_),
      frames_(device, steps, batches, ones_, by_directions ? &fields_ : nullptr),
      thread_(device, [this](const PairWork& work, const Part& part) {
        return (frames_.*part.frames).find(work, part.known);
      }) {}

void GridHelper::show(const PairWork& pair) {
  fields_.begin_pair();
  thread_.show(pair).fields = by_directions_ ? &fields_ : nullptr;
}

}  // namespace warpalign::detail
