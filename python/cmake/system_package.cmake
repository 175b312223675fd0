# The package python3-warpalign: the extension module and the Python files, in the module folder of
# Debian's Python. The package libwarpalign0 contains the library.
set(folder lib/python3/dist-packages/warpalign)
install(TARGETS warpalign_python LIBRARY DESTINATION ${folder} COMPONENT python)
install(DIRECTORY warpalign/ DESTINATION ${folder} COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

set(PROJECT_VERSION ${warpalign_VERSION})
include(${CMAKE_CURRENT_SOURCE_DIR}/../cmake/DebianPackages.cmake)
# An extension module works with only one minor version of Python.
math(EXPR next "${Python_VERSION_MINOR} + 1")
set(major ${Python_VERSION_MAJOR})
set(depends "python3 (>= ${major}.${Python_VERSION_MINOR}), python3 (<< ${major}.${next}), \
python3-numpy, libwarpalign0 (= ${PROJECT_VERSION}-1)")
warpalign_describe(python python3-warpalign "registration and warping of images, for Python"
"warpalign finds the rotation, scale and shift between two images, and warps
one image to the other, on any GPU or CPU.
This package contains its Python module, with SciPy's interpolation functions."
  DEPENDS "${depends}"
  RECOMMENDS "libwarpalign-opencl (= ${PROJECT_VERSION}-1) | libwarpalign-cuda (= ${PROJECT_VERSION}-1)"
  SECTION python)
get_target_property(library warpalign::warpalign LOCATION)
get_filename_component(library_folder ${library} DIRECTORY)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${library_folder})
# The maintainer scripts compile the Python files after installation, as in Debian's own packages.
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst;${CMAKE_CURRENT_SOURCE_DIR}/debian/prerm")
include(CPack)
