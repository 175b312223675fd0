// Arguments of stages that are structs with memory in them.
#pragma once

#include "memory.hpp"

#include <warpalign/backend/stage_list.hpp>

namespace warpalign::faulty {

inline backend::SimilarityMemory inner_of(const backend::SimilarityMemory& images) noexcept {
  return {inner_of(images.reference), inner_of(images.coefficients),
          inner_of(images.reference_weight), inner_of(images.moving_weight),
          inner_of(images.illumination)};
}

inline backend::ShiftSumsMemory inner_of(const backend::ShiftSumsMemory& memory) noexcept {
  return {inner_of(memory.frames), inner_of(memory.reference), inner_of(memory.frame_means),
          inner_of(memory.reference_means), inner_of(memory.states)};
}

inline backend::FrameSumsMemory inner_of(const backend::FrameSumsMemory& memory) noexcept {
  return {inner_of(memory.frames), inner_of(memory.reference), inner_of(memory.states)};
}

inline backend::OverlapSpectra inner_of(const backend::OverlapSpectra& spectra) noexcept {
  return {inner_of(spectra.a), inner_of(spectra.a_weight), inner_of(spectra.b),
          inner_of(spectra.b_weight)};
}

inline backend::SamplingPoints inner_of(const backend::SamplingPoints& points) noexcept {
  return {points.transforms, inner_of(points.coordinates), points.log_polar};
}

inline backend::AffineVolumeSumsMemory inner_of(
    const backend::AffineVolumeSumsMemory& memory) noexcept {
  return {inner_of(memory.reference), inner_of(memory.moving), inner_of(memory.states)};
}

inline backend::RotationScoresMemory inner_of(
    const backend::RotationScoresMemory& memory) noexcept {
  return {inner_of(memory.volume), inner_of(memory.points), inner_of(memory.rotations)};
}

}  // namespace warpalign::faulty
