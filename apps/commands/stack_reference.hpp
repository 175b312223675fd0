// Chooses the image to which the frames of a stack are registered.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_work.hpp"
#include "io/image_file.hpp"
#include "reports/stack_frame.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace warpalign::program {

/// What --to names.
struct ReferenceChoice {
  StackReference to = StackReference::first;
  std::size_t frame = 0;             ///< for StackReference::frame
  std::optional<LoadedImage> image;  ///< for StackReference::file, and for a frame beyond those
                                     ///< that are read ahead
  std::string name;                  ///< of the image
};

/// Parses "first", "previous", "mean", "auto", a frame's number or the name of a file, which is not
/// opened yet. Throws UsageError.
[[nodiscard]] ReferenceChoice reference_choice(const std::string& text);

/// Loads the image that --to names, so that a wrong one is refused before any other work. Throws
/// FileError or UsageError: the stack ends before the frame, the file has another size than the
/// frames, or a pipe would have to be read twice.
void load_reference(ReferenceChoice& choice, StackInput& input);

/// Sets the drift's origin of `work`. `known`: the origin that an earlier run chose, or null. The
/// first usable frame is found among those that are read ahead: a frame with usable pixels to which
/// one of the next frames registers reliably. Throws UsageError if the pixels of an image that
/// --to names cannot be used.
[[nodiscard]] DriftOrigin choose_origin(ReferenceChoice choice, const DriftOrigin* known,
                                        StackInput& input, StackWork& work,
                                        const std::optional<LoadedImage>& mask);

}  // namespace warpalign::program
