# Debian packages by CPack, one for each component; script/package makes them. python/ defines the
# package of the Python module.
if(NOT PROJECT_IS_TOP_LEVEL OR WARPALIGN_BUILD_PYTHON)
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/DebianPackages.cmake)
set(same "(= ${PROJECT_VERSION}-1)")
set(about "warpalign finds the rotation, scale and shift between two images, and warps
one image to the other, on any GPU or CPU.")

warpalign_describe(library libwarpalign0 "registration and warping of images on any accelerator"
"${about}
This package contains the library, which loads a backend at run time."
  RECOMMENDS "libwarpalign-opencl ${same} | libwarpalign-cuda ${same}")
warpalign_describe(development libwarpalign-dev "headers of warpalign, for C++ and C"
"${about}
This package contains the files that are needed to compile programs."
  DEPENDS "libwarpalign0 ${same}" SECTION libdevel)
if(TARGET warpalign_opencl)
  warpalign_describe(opencl libwarpalign-opencl "OpenCL backend of warpalign"
"${about}
This package adds support for GPUs of all vendors, and for CPUs, by OpenCL."
    DEPENDS "libwarpalign0 ${same}" RECOMMENDS "pocl-opencl-icd | opencl-icd"
    SUGGESTS "libclfft2")
endif()
if(TARGET warpalign_cuda)
  # Debian 12 has no package of this cuFFT, and a toolkit from NVIDIA's runfile belongs to no
  # package. The packages that provide it are therefore only recommended. NVIDIA numbers its package
  # by the toolkit's version, Debian by the soname, which is smaller by one.
  set(cufft "")
  foreach(minor RANGE ${WARPALIGN_CUDA_VERSION_MINOR} 9)
    string(APPEND cufft "libcufft-${WARPALIGN_CUDA_VERSION_MAJOR}-${minor} | ")
  endforeach()
  math(EXPR cufft_soname "${WARPALIGN_CUDA_VERSION_MAJOR} - 1")
  warpalign_describe(cuda libwarpalign-cuda "CUDA backend of warpalign"
"${about}
This package adds support for NVIDIA GPUs by CUDA. cuFFT and the driver come
from NVIDIA."
    DEPENDS "libwarpalign0 ${same}" RECOMMENDS "${cufft}libcufft${cufft_soname}"
    SUGGESTS "nvidia-driver")
endif()
if(TARGET warpalign_program)
  warpalign_describe(program warpalign "registers, warps and resamples images from the shell"
"${about}
This package contains the program, with its manual pages and completion for
bash, zsh and fish."
    DEPENDS "libwarpalign0 ${same}"
    RECOMMENDS "libwarpalign-opencl ${same} | libwarpalign-cuda ${same}" SECTION graphics)
endif()

# dpkg-shlibdeps finds the library of this build in the build tree. The dependencies on its package
# are stated above.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${WARPALIGN_CUDA_LIBRARY_DIR})
# Packages that link the library get these bounds: before 1.0, a minor version may change the
# interface.
math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
set(series ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(CONFIGURE OUTPUT debian/shlibs @ONLY CONTENT
"libwarpalign ${series} libwarpalign0 (>= ${PROJECT_VERSION}), libwarpalign0 (<< ${PROJECT_VERSION_MAJOR}.${next_minor})
")
file(CONFIGURE OUTPUT debian/triggers @ONLY CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/debian/shlibs;${PROJECT_BINARY_DIR}/debian/triggers")
include(CPack)
