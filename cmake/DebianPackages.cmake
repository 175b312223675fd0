# Settings that all Debian packages of this project share. Packages.cmake and python/ include it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME warpalign)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# Each component has its own summary. CPack needs this default text, which it treats as no summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages" CACHE PATH "Where packages are written")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# script/package names the author of the last commit.
set(CPACK_PACKAGE_CONTACT "$ENV{WARPALIGN_PACKAGE_CONTACT}")
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "${PROJECT_NAME} developers <warpalign@localhost>")
endif()
# Prepares files that only packages have, not other installations.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebianStaging.cmake)
set(CPACK_WARPALIGN_SOURCE ${CMAKE_CURRENT_LIST_DIR}/..)
set(CPACK_WARPALIGN_BUILD ${PROJECT_BINARY_DIR})

# warpalign_describe(COMPONENT PACKAGE SUMMARY TEXT [DEPENDS ...] [RECOMMENDS ...] [SUGGESTS ...]
# [SECTION ...]): describes the package of a component. Sets variables of the caller.
macro(warpalign_describe component package summary text)
  cmake_parse_arguments(arg "" "DEPENDS;RECOMMENDS;SUGGESTS;SECTION" "" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
  foreach(what DEPENDS RECOMMENDS SUGGESTS SECTION)
    if(arg_${what})
      set(CPACK_DEBIAN_${upper}_PACKAGE_${what} "${arg_${what}}")
    endif()
  endforeach()
  list(APPEND CPACK_COMPONENTS_ALL ${component})
endmacro()
