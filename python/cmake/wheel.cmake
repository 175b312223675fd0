# The contents of the wheel, besides the package's Python files.
target_link_libraries(warpalign_python PRIVATE warpalign_warnings)
set_target_properties(warpalign_python PROPERTIES INSTALL_RPATH "$ORIGIN")

# The stubs. Making them imports the module, which needs libwarpalign in the same folder.
nanobind_add_stub(warpalign_python_stub MODULE _core
  OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/_core.pyi
  PYTHON_PATH $<TARGET_FILE_DIR:warpalign_python> DEPENDS warpalign_python)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/_core.pyi DESTINATION warpalign COMPONENT python)

# A wheel cannot contain links, so the library has only one name: its soname.
set_target_properties(warpalign PROPERTIES
  VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")

set(parts warpalign warpalign_python)
foreach(backend IN LISTS WARPALIGN_BACKENDS)
  if(TARGET warpalign_${backend})
    list(APPEND parts warpalign_${backend})
  endif()
endforeach()
install(TARGETS ${parts} LIBRARY DESTINATION warpalign COMPONENT python NAMELINK_SKIP)

# The command line program, for `python -m warpalign`.
if(TARGET warpalign_program)
  set_target_properties(warpalign_program PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS warpalign_program RUNTIME DESTINATION warpalign/bin COMPONENT python)
  list(APPEND parts warpalign_program)
endif()

add_custom_target(python_package DEPENDS ${parts} warpalign_python_stub)
