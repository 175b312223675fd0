# The build tree has the layout of an installation, so that the library finds its modules in its own
# folder in the build tree, too.
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
# Run paths of the build tree are relative, so that a file does not depend on the folder it is built
# in: the linker hashes them into the build id, which stays when installation removes them.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
