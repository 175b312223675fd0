// The OpenCL library of this machine, opened when it is first needed.
//
// A module that is shipped to other machines cannot link libOpenCL: it would not load where there
// is none. Such a module (WARPALIGN_OPENCL_LINK=OFF) contains forwarders under the names of the
// OpenCL functions that it uses. They look the functions up here.
#pragma once

#include <cstddef>
#include <string>

namespace warpalign::opencl {

/// Why there is no OpenCL library, or empty if it was opened. Always empty in a module that links
/// it. The first call, from whichever thread, opens the library.
#ifdef WARPALIGN_OPENCL_LINKED
inline std::string opencl_library_problem() { return {}; }
#else
[[nodiscard]] std::string opencl_library_problem();

/// The function of that name, or null if there is no library or no such function in it.
/// `slot`: where cl_icd_dispatch has it.
[[nodiscard]] void* find_opencl_function(const char* name, std::size_t slot) noexcept;
#endif

}  // namespace warpalign::opencl
