// How reports tell that images match at several shifts.
#pragma once

#include "reports/json.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// "ok", "ambiguous" or "unreliable". `Result`: a RegistrationResult, or a FrameAlignment.
template <class Result>
[[nodiscard]] const char* status_of(const Result& result) {
  return result.reliable ? "ok" : result.ambiguous ? "ambiguous" : "unreliable";
}

/// Which vectors repeat the texture, or along which direction lines leave the shift open, as the
/// continuation of a sentence. Empty if neither is known.
[[nodiscard]] std::string ambiguity_text(const std::vector<Point>& period,
                                         const std::optional<Point>& undetermined_direction);

/// Adds the members `period` and `undetermined_direction`.
void add_ambiguity(Json& object, const std::vector<Point>& period,
                   const std::optional<Point>& undetermined_direction);

/// The columns of csv_ambiguity(), each after a comma.
inline constexpr const char* csv_ambiguity_columns =
    ",period1_x,period1_y,period2_x,period2_y,undetermined_x,undetermined_y";
/// The vectors as six fields, each after a comma. Missing ones are empty.
[[nodiscard]] std::string csv_ambiguity(const std::vector<Point>& period,
                                        const std::optional<Point>& undetermined_direction);

}  // namespace warpalign::program
