// The names of options, as the command line and the reports have them.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::program {

[[nodiscard]] const char* name_of(Motion motion);
[[nodiscard]] const char* name_of(Modality modality);

}  // namespace warpalign::program
