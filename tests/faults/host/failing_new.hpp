// An operator new that can be made to fail, for the library and the modules that it loads.
#pragma once

namespace faults {

/// To be called before points are counted, when the modules are loaded whose allocations are.
void prepare_failing_new();

}  // namespace faults
