// The registration options that `register` and `stack` share.
#pragma once

#include <warpalign/registrar.hpp>
#include <warpalign/registration_options.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace warpalign::program {

/// The options as typed, unchecked.
struct RegistrationChoices {
  bool fast = false;
  bool no_refine = false;
  std::optional<std::string> motion;
  std::optional<std::string> scale_range;
  std::optional<std::string> angle_range;
  std::optional<std::string> max_shift;
  std::optional<int> candidates;
  /// Options that the library takes by name (RegistrationOptionInfo::program_uses_set_option).
  std::map<std::string, std::optional<std::string>> by_name;
};

/// The models that --motion offers: no affine transforms and homographies for `stack`, all for
/// `register`.
enum class MotionsOffered { for_stacks, all };
/// Adds --fast, --no-refine, --motion, --scale-range, --angle-range, --max-shift, and the options
/// that the library describes (RegistrationOptionInfo::program_uses_set_option): --modality,
/// --search, --spectrum, --threads.
void add_registration_options(CLI::App& command, RegistrationChoices& choices,
                              MotionsOffered motions);
/// Adds the group "Deformation": --grid-spacing and --bending-weight.
void add_deformation_options(CLI::App& command, RegistrationChoices& choices);
/// Adds --candidates.
void add_candidates_option(CLI::App& command, RegistrationChoices& choices);

/// Throws UsageError: the fast pipeline does not support masks.
[[noreturn]] void refuse_mask_with_fast(const std::string& option);

/// Throws UsageError for affine transforms and homographies, which stacks do not support.
void refuse_projective_motion(const RegistrationOptions& options);

/// Whether the user chose --motion local; see local_options.hpp.
[[nodiscard]] bool is_local(const RegistrationChoices& choices);

/// The options of `by_name` that the user gave.
[[nodiscard]] std::vector<const RegistrationOptionInfo*> given_by_name(
    const RegistrationChoices& choices);
/// Whether it is --grid-spacing or --bending-weight.
[[nodiscard]] bool describes_deformation(const RegistrationOptionInfo& info);
/// The option without its value: "--search" for "--search NAME".
[[nodiscard]] std::string flag_of(const RegistrationOptionInfo& info);

/// Converts the choices, unless is_local(). Throws UsageError, naming the option.
[[nodiscard]] RegistrationOptions registration_options_of(const RegistrationChoices& choices);

}  // namespace warpalign::program
