# Compiles the sources of each folder as one translation unit (a "unity build"): most of the time
# of compilation is spent on headers and templates that the sources of a folder share.
#
# warpalign_compile_by_folder(TARGET [EXCEPT regex]): does so for the C++ sources of the target.
# Names in unnamed namespaces must then be unique within a folder. Sources whose path matches EXCEPT,
# sources with compile options of their own, and generated sources are compiled separately. With
# WARPALIGN_FOLDER_UNITS=OFF, the function does nothing: then a changed source is recompiled alone,
# and a source that lacks an #include fails.
function(warpalign_compile_by_folder target)
  cmake_parse_arguments(arg "" "EXCEPT" "" ${ARGN})
  if(NOT WARPALIGN_FOLDER_UNITS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${path} ours)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${path} generated)
    if(generated OR (arg_EXCEPT AND path MATCHES "${arg_EXCEPT}"))
      continue()
    endif()
    if(ours AND path MATCHES "\\.cpp$")
      cmake_path(GET path PARENT_PATH folder)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties(${source} DIRECTORY ${base} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A unit includes sources as if they were headers, in which a class with a member of an unnamed
  # namespace would be a mistake. script/abi-check, which compiles each source alone, finds it.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
