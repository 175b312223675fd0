// The OpenCL library of this machine, opened when it is first needed.
//
// A module that is shipped to other machines cannot link libOpenCL: it would not load on a machine
// without it. Such a module (WARPALIGN_OPENCL_LINK=OFF) contains forwarders with the names of the
// OpenCL functions that it uses. The forwarders look up the functions here.
#pragma once

#include <cstddef>
#include <string>

namespace warpalign::opencl {

/// Why the OpenCL library could not be opened; empty if it was. Always empty in a module that links
/// it. The first call, on any thread, opens the library.
#ifdef WARPALIGN_OPENCL_LINKED
inline std::string opencl_library_problem() { return {}; }
#else
[[nodiscard]] std::string opencl_library_problem();

/// The function of that name, or null if there is no library or it has no such function. `slot`:
/// the function's index in cl_icd_dispatch.
[[nodiscard]] void* find_opencl_function(const char* name, std::size_t slot) noexcept;
#endif

}  // namespace warpalign::opencl
