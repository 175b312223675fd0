// Stage arguments that are structs with memory in them. The structured bindings do not compile if
// a struct gains a member.
#pragma once

#include "memory.hpp"

#include <warpalign/backend/stage_list.hpp>

namespace warpalign::faulty {

inline backend::SimilarityMemory inner_of(const backend::SimilarityMemory& images) noexcept {
  const auto& [reference, coefficients, reference_weight, moving_weight, illumination] = images;
  return {inner_of(reference), inner_of(coefficients), inner_of(reference_weight),
          inner_of(moving_weight), inner_of(illumination)};
}

inline backend::ShiftSumsMemory inner_of(const backend::ShiftSumsMemory& memory) noexcept {
  const auto& [frames, reference, frame_means, reference_means, states] = memory;
  return {inner_of(frames), inner_of(reference), inner_of(frame_means), inner_of(reference_means),
          inner_of(states)};
}

inline backend::PointsInMemory inner_of(const backend::PointsInMemory& points) noexcept {
  const auto& [memory, count, first, strides] = points;
  return {inner_of(memory), count, first, strides};
}

inline backend::FieldInMemory inner_of(const backend::FieldInMemory& field) noexcept {
  const auto& [values, is_double, is_cubic, shape, margin, point_to_index] = field;
  return {inner_of(values), is_double, is_cubic, shape, margin, point_to_index};
}

inline backend::HoleEquations inner_of(const backend::HoleEquations& of) noexcept {
  const auto& [links, smoothed, equations, num_smoothed, num_equations, residual, direction,
               steps] = of;
  return {inner_of(links), inner_of(smoothed), inner_of(equations), num_smoothed,
          num_equations,   inner_of(residual), inner_of(direction), inner_of(steps)};
}

inline backend::FieldWarp inner_of(const backend::FieldWarp& warp) noexcept {
  const auto& [field, to_index, to_input, linear, is_on_grid, outside] = warp;
  return {inner_of(field), to_index, to_input, linear, is_on_grid, outside};
}

inline backend::FrameSumsMemory inner_of(const backend::FrameSumsMemory& memory) noexcept {
  return {inner_of(memory.frames), inner_of(memory.reference), inner_of(memory.states)};
}

inline backend::KnownLevels inner_of(const backend::KnownLevels& levels) noexcept {
  return {levels.of_all, inner_of(levels.of_each)};
}

inline backend::FitStepMemory inner_of(const backend::FitStepMemory& memory) noexcept {
  return {inner_of(memory.fits), inner_of(memory.states)};
}

inline backend::OverlapSpectra inner_of(const backend::OverlapSpectra& spectra) noexcept {
  const auto& [a, b, a_second, b_second] = spectra;
  return {inner_of(a), inner_of(b), inner_of(a_second), inner_of(b_second)};
}

inline backend::DoubleAngleMemory inner_of(const backend::DoubleAngleMemory& images) noexcept {
  const auto& [input, weight, cosines, sines] = images;
  return {inner_of(input), inner_of(weight), inner_of(cosines), inner_of(sines)};
}

inline backend::RotatedMemory inner_of(const backend::RotatedMemory& images) noexcept {
  const auto& [cosines, sines, rotated_cosines, rotated_sines] = images;
  return {inner_of(cosines), inner_of(sines), inner_of(rotated_cosines), inner_of(rotated_sines)};
}

inline backend::CommonFramesMemory inner_of(const backend::CommonFramesMemory& memory) noexcept {
  const auto& [reference, reference_second, moving, moving_second, reference_weight, moving_weight,
               reference_frames, moving_frames] = memory;
  return {inner_of(reference),        inner_of(reference_second), inner_of(moving),
          inner_of(moving_second),    inner_of(reference_weight), inner_of(moving_weight),
          inner_of(reference_frames), inner_of(moving_frames)};
}

inline backend::SamplingPoints inner_of(const backend::SamplingPoints& points) noexcept {
  const auto& [transforms, coordinates, log_polar] = points;
  return {transforms, inner_of(coordinates), log_polar};
}

inline backend::DoublePoints inner_of(const backend::DoublePoints& points) noexcept {
  const auto& [matrix, coordinates] = points;
  return {matrix, inner_of(coordinates)};
}

inline backend::AffineVolumeSumsMemory inner_of(
    const backend::AffineVolumeSumsMemory& memory) noexcept {
  const auto& [reference, moving, states] = memory;
  return {inner_of(reference), inner_of(moving), inner_of(states)};
}

inline backend::RotationScoresMemory inner_of(
    const backend::RotationScoresMemory& memory) noexcept {
  const auto& [volume, points, rotations] = memory;
  return {inner_of(volume), inner_of(points), inner_of(rotations)};
}

inline backend::OctaveMemory inner_of(const backend::OctaveMemory& memory) noexcept {
  const auto& [source_planes, planes, weights, between] = memory;
  return {inner_of(source_planes), inner_of(planes), inner_of(weights), inner_of(between)};
}

inline backend::DescribedFeatures inner_of(const backend::DescribedFeatures& features) noexcept {
  const auto& [descriptors, count] = features;
  return {inner_of(descriptors), count};
}

}  // namespace warpalign::faulty
