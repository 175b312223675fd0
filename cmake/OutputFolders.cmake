# Library, modules and programs are built into the layout they are installed in, so that the
# library finds its modules beside itself in the build tree too.
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
# Run paths of the build tree are relative, so that a file is the same wherever it is built: the linker
# counts them into the build's id, which stays when installing takes them out.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
