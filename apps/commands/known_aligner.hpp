// What aligners by known transforms have in common: they register nothing.
#pragma once

#include "commands/stack_aligner.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

class KnownAligner : public StackAligner {
 public:
  void set_origin(const LoadedImage& /*image*/, std::optional<std::size_t> /*index*/) override {}
  [[nodiscard]] std::vector<Trial> try_frames(std::span<const UpcomingFrame> frames) override {
    return std::vector<Trial>(frames.size(), Trial::reliable);
  }
  void add_finished(const LoadedImage& /*frame*/, const FrameAlignment& /*place*/,
                    std::size_t /*index*/) override {}
  [[nodiscard]] bool needs_finished(std::size_t /*index*/, std::size_t /*last*/) const override {
    return false;
  }
};

}  // namespace warpalign::program
