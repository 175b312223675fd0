# Debian packages by CPack, one for each component: script/package makes them. The package of the
# Python module is python/'s own.
if(NOT PROJECT_IS_TOP_LEVEL OR WARPALIGN_BUILD_PYTHON)
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/DebianPackages.cmake)
set(same "(= ${PROJECT_VERSION}-1)")
set(about "warpalign finds how one image must be rotated, scaled and shifted to lie
on another, and warps it there, on any GPU or CPU.")

warpalign_describe(library libwarpalign0 "registration and warping of images on any accelerator"
"${about}
This package has the library, which loads a backend when a program runs."
  RECOMMENDS "libwarpalign-opencl ${same} | libwarpalign-cuda ${same}")
warpalign_describe(development libwarpalign-dev "headers of warpalign, for C++ and C"
"${about}
This package has what programs are compiled with."
  DEPENDS "libwarpalign0 ${same}" SECTION libdevel)
if(TARGET warpalign_opencl)
  warpalign_describe(opencl libwarpalign-opencl "OpenCL backend of warpalign"
"${about}
This package lets it use the GPUs of any vendor, and CPUs, by OpenCL."
    DEPENDS "libwarpalign0 ${same}" RECOMMENDS "pocl-opencl-icd | opencl-icd"
    SUGGESTS "libclfft2")
endif()
if(TARGET warpalign_cuda)
  # None of Debian 12's packages has this cuFFT, and a toolkit from NVIDIA's runfile belongs to no package:
  # so the packages that can bring it are recommended, which lets the rest be installed without them.
  # NVIDIA names its package after the toolkit, Debian after the soname, which is smaller by one.
  set(cufft "")
  foreach(minor RANGE ${WARPALIGN_CUDA_VERSION_MINOR} 9)
    string(APPEND cufft "libcufft-${WARPALIGN_CUDA_VERSION_MAJOR}-${minor} | ")
  endforeach()
  math(EXPR cufft_soname "${WARPALIGN_CUDA_VERSION_MAJOR} - 1")
  warpalign_describe(cuda libwarpalign-cuda "CUDA backend of warpalign"
"${about}
This package lets it use NVIDIA's GPUs by CUDA. cuFFT and the driver come
from NVIDIA."
    DEPENDS "libwarpalign0 ${same}" RECOMMENDS "${cufft}libcufft${cufft_soname}"
    SUGGESTS "nvidia-driver")
endif()
if(TARGET warpalign_program)
  warpalign_describe(program warpalign "registers, warps and resamples images from the shell"
"${about}
This package has the program, with its manual pages and completion for bash,
zsh and fish."
    DEPENDS "libwarpalign0 ${same}"
    RECOMMENDS "libwarpalign-opencl ${same} | libwarpalign-cuda ${same}" SECTION graphics)
endif()

# The other packages need the library of this build, which dpkg-shlibdeps finds in the build tree; by
# its own package it is named above.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${WARPALIGN_CUDA_LIBRARY_DIR})
# Who links the library gets these bounds: before 1.0 a minor version may change the interface.
math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
set(series ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(CONFIGURE OUTPUT debian/shlibs @ONLY CONTENT
"libwarpalign ${series} libwarpalign0 (>= ${PROJECT_VERSION}), libwarpalign0 (<< ${PROJECT_VERSION_MAJOR}.${next_minor})
")
file(CONFIGURE OUTPUT debian/triggers @ONLY CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/debian/shlibs;${PROJECT_BINARY_DIR}/debian/triggers")
include(CPack)
