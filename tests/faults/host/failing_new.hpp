// An operator new that can be made to fail, for the library and the modules that it loads.
#pragma once

namespace faults {

/// Call this before points are counted, after loading the modules whose allocations count.
void prepare_failing_new();

}  // namespace faults
