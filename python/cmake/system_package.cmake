# The package python3-warpalign: the extension module for Debian's Python, with the Python files, in
# the folder where that Python looks. The library is libwarpalign0's.
set(folder lib/python3/dist-packages/warpalign)
install(TARGETS warpalign_python LIBRARY DESTINATION ${folder} COMPONENT python)
install(DIRECTORY warpalign/ DESTINATION ${folder} COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

set(PROJECT_VERSION ${warpalign_VERSION})
include(${CMAKE_CURRENT_SOURCE_DIR}/../cmake/DebianPackages.cmake)
# An extension module is for one minor version of Python.
math(EXPR next "${Python_VERSION_MINOR} + 1")
set(major ${Python_VERSION_MAJOR})
set(depends "python3 (>= ${major}.${Python_VERSION_MINOR}), python3 (<< ${major}.${next}), \
python3-numpy, libwarpalign0 (= ${PROJECT_VERSION}-1)")
warpalign_describe(python python3-warpalign "registration and warping of images, for Python"
"warpalign finds how one image must be rotated, scaled and shifted to lie
on another, and warps it there, on any GPU or CPU.
This package has its Python module, with SciPy's interpolation functions."
  DEPENDS "${depends}"
  RECOMMENDS "libwarpalign-opencl (= ${PROJECT_VERSION}-1) | libwarpalign-cuda (= ${PROJECT_VERSION}-1)"
  SECTION python)
get_target_property(library warpalign::warpalign LOCATION)
get_filename_component(library_folder ${library} DIRECTORY)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${library_folder})
# The Python files are compiled where they are installed, as Debian's own packages do.
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst;${CMAKE_CURRENT_SOURCE_DIR}/debian/prerm")
include(CPack)
