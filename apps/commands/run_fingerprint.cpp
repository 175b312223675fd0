// Identifies a run of `warpalign stack`.
#include "commands/run_fingerprint.hpp"

#include "commands/file_stamp.hpp"
#include "commands/stack_reference.hpp"
#include "io/initial_file.hpp"

#include <warpalign/version.hpp>

#include <fmt/format.h>

namespace warpalign::program {
namespace {

template <typename Value>
void add_optional(Checksum& checksum, const std::optional<Value>& value) {
  checksum.add(value ? fmt::format("={}", *value) : std::string("none"));
}

}  // namespace

RunFingerprint fingerprint_of(const StackOptions& options, const StackInput& input) {
  Checksum inputs;
  for (const std::string& file : options.files) add_file(inputs, file);
  add_optional(inputs, options.channel);
  add_optional(inputs, options.slice);
  add_optional(inputs, options.weights);
  inputs.add(fmt::format("{} {}", options.only_channel, options.only_slice));
  add_optional(inputs, options.axes);
  inputs.add(input.first().image.pixels);

  Checksum chosen;
  chosen.add(warpalign::version());
  chosen.add(options.to);
  const ReferenceChoice reference = reference_choice(options.to);
  if (reference.to == StackReference::file) add_file(chosen, reference.name);
  if (options.mask) add_file(chosen, *options.mask);
  if (options.apply) add_file(chosen, *options.apply);
  if (options.initial) {
    if (is_identity(*options.initial)) {
      chosen.add(*options.initial);
    } else {
      add_file(chosen, *options.initial);
    }
  }
  if (options.fixed_pattern) chosen.add(*options.fixed_pattern);
  if (options.align_channels) add_file(chosen, *options.align_channels);
  add_optional(chosen, options.crop_at);
  add_optional(chosen, options.line_offset);
  add_optional(chosen, options.nodata);
  chosen.add(fmt::format("{}", options.bidirectional));
  const RegistrationChoices& choices = options.choices;
  chosen.add(fmt::format("{} {}", choices.fast, choices.no_refine));
  add_optional(chosen, choices.motion);
  add_optional(chosen, choices.scale_range);
  add_optional(chosen, choices.angle_range);
  add_optional(chosen, choices.max_shift);
  add_optional(chosen, choices.candidates);
  for (const RegistrationOptionInfo* option : given_by_name(choices)) {
    if (!option->changes_results) continue;
    chosen.add(std::string(option->name));
    add_optional(chosen, choices.by_name.at(std::string(option->name)));
  }
  add_optional(chosen, options.local.window);
  add_optional(chosen, options.local.stride);
  add_optional(chosen, options.local.smoothness);
  return {inputs.value(), chosen.value()};
}

}  // namespace warpalign::program
