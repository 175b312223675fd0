// Converts options and results of registrations between Python and the library.
#pragma once

#include <nanobind/nanobind.h>

#include <warpalign/registrar.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::python {

/// A dictionary of all fields, from which the package makes its result objects. `matrix` is
/// its six numbers a b c d e f, and `translation` is (x, y).
nanobind::dict dict_of(const RegistrationResult& result);
/// Its transform and measures, or None.
nanobind::object object_of(const std::optional<Deformation>& deformation);
/// The device times of the stages, as pairs of a name and milliseconds.
nanobind::list list_of(const std::vector<StageTiming>& timings);

/// The motion with this name. Throws ValueError, which lists the names.
Motion motion_named(const std::string& name);
const char* name_of(Motion motion);
Modality modality_named(const std::string& name);
const char* name_of(Modality modality);

}  // namespace warpalign::python
