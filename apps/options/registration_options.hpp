// The options that say how to register, as `register` and `stack` share them.
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

/// As they were typed.
struct RegistrationChoices {
  bool fast = false;
  bool no_refine = false;
  std::optional<std::string> motion;
  std::optional<std::string> scale_range;
  std::optional<std::string> angle_range;
  std::optional<double> max_shift;
  std::optional<int> candidates;
  /// Those that the library takes by name (RegistrationOptionInfo::only_by_name).
  std::map<std::string, std::optional<std::string>> by_name;
};

/// Adds --fast, --no-refine, --motion, --scale-range, --angle-range, --max-shift, and those that
/// the library describes (RegistrationOptionInfo::only_by_name): --modality, --search, --spectrum,
/// --threads.
enum class MotionsOffered { up_to_similarity, all };
void add_registration_options(CLI::App& command, RegistrationChoices& choices,
                              MotionsOffered motions);
/// Adds --candidates.
void add_candidates_option(CLI::App& command, RegistrationChoices& choices);

/// Throws UsageError: the fast pipeline does not support masks.
[[noreturn]] void refuse_mask_with_fast(const std::string& option);

/// Throws UsageError for a motion with more parameters than a similarity, which stacks do not take.
void refuse_richer_motion(const RegistrationOptions& options);

/// Whether --motion local is asked for, of which local_options.hpp knows more.
[[nodiscard]] bool is_local(const RegistrationChoices& choices);

/// Those of `by_name` that were typed.
[[nodiscard]] std::vector<const RegistrationOptionInfo*> given_by_name(
    const RegistrationChoices& choices);
/// "--search" of "--search NAME".
[[nodiscard]] std::string flag_of(const RegistrationOptionInfo& info);

/// What they mean, unless is_local(). Throws UsageError, naming the option.
[[nodiscard]] RegistrationOptions registration_options_of(const RegistrationChoices& choices);

}  // namespace warpalign::program
