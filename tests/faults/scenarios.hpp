// The work whose points fail: every public stage and every kind of registration, with small
// images.
#pragma once

#include "faults/sweep.hpp"

#include <vector>

namespace faults {

/// Copies, and the public stages.
[[nodiscard]] std::vector<Scenario> stage_scenarios();
/// Registrations of images, of batches, of volumes and of windows.
[[nodiscard]] std::vector<Scenario> registration_scenarios();
/// The C interface, on a separate device with the same name, which stays open.
[[nodiscard]] std::vector<Scenario> c_scenarios();

}  // namespace faults
