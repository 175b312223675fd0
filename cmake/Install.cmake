# cmake --install: library, modules, headers, program, CMake package and pkg-config file, under any
# prefix. Modules go to the library's folder (Backend.cmake), and run paths are relative, so that
# the tree may be moved. Packages.cmake makes a package of each component.
include(CMakePackageConfigHelpers)

install(TARGETS warpalign EXPORT warpalign-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

if(TARGET warpalign_program)
  file(RELATIVE_PATH library_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  if(NOT WARPALIGN_BUILD_PYTHON)  # a wheel has another layout
    set_target_properties(warpalign_program PROPERTIES
      INSTALL_RPATH "$ORIGIN/${library_from_program}")
  endif()
  install(TARGETS warpalign_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  set(documents ${PROJECT_BINARY_DIR}/apps/documents)
  install(DIRECTORY ${documents}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${documents}/bash/warpalign COMPONENT program
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${documents}/zsh/_warpalign COMPONENT program
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${documents}/fish/warpalign.fish COMPONENT program
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(DIRECTORY core/include/warpalign DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/core/include/warpalign/version.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpalign COMPONENT development)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/warpalign)
install(EXPORT warpalign-targets NAMESPACE warpalign:: DESTINATION ${package_folder}
  COMPONENT development)
configure_package_config_file(cmake/warpalign-config.cmake.in warpalign-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(warpalign-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpalign-config.cmake
              ${PROJECT_BINARY_DIR}/warpalign-config-version.cmake
  DESTINATION ${package_folder} COMPONENT development)

# The prefix in the pkg-config file is relative to the file, so that the file may be moved, too.
file(RELATIVE_PATH prefix_from_pkgconfig
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/warpalign.pc.in warpalign.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/warpalign.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)
