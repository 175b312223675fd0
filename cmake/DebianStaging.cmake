# CPack runs this script after it has installed into its own folder, before it makes the packages.
# The script removes run paths, since the system finds the library by itself, and adds to each
# package its copyright and changelog, and to the library's package the list of its components.
cmake_policy(VERSION 3.25)

find_program(GZIP gzip REQUIRED)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(stage ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  file(GLOB_RECURSE files ${stage}/lib/*.so* ${stage}/bin/*)
  foreach(file IN LISTS files)
    if(NOT IS_SYMLINK ${file})
      file(RPATH_REMOVE FILE ${file})
    endif()
  endforeach()

  string(TOUPPER ${component} upper)
  set(documents ${stage}/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${documents})
  file(WRITE ${documents}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: warpalign

Files: *
Copyright: 2026 the warpalign developers
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  configure_file(${CPACK_WARPALIGN_SOURCE}/CHANGELOG.md ${documents}/changelog COPYONLY)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # respects SOURCE_DATE_EPOCH
  file(WRITE ${documents}/changelog.Debian
"warpalign (${CPACK_PACKAGE_VERSION}-1) stable; urgency=medium

  * See changelog.gz for the changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  execute_process(COMMAND ${GZIP} -9nf ${documents}/changelog ${documents}/changelog.Debian
                  COMMAND_ERROR_IS_FATAL ANY)
  set(overrides ${CPACK_WARPALIGN_SOURCE}/cmake/lintian/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  if(EXISTS ${overrides})
    file(MAKE_DIRECTORY ${stage}/share/lintian/overrides)
    configure_file(${overrides} ${stage}/share/lintian/overrides COPYONLY)
  endif()
  if(component STREQUAL "library" AND EXISTS ${CPACK_WARPALIGN_BUILD}/warpalign.spdx.json)
    configure_file(${CPACK_WARPALIGN_BUILD}/warpalign.spdx.json
                   ${documents}/warpalign.spdx.json COPYONLY)
  endif()
  file(GLOB_RECURSE documents ${stage}/share/*)
  file(CHMOD ${documents} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
