# Installs to one prefix, moves the tree, and builds and runs the outside project against it, once
# by find_package and once by pkg-config.
set(work ${BUILD}/test-install)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/first)
file(RENAME ${work}/first ${work}/moved)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -D CMAKE_PREFIX_PATH=${work}/moved
    -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${work}/moved/${LIBRARY_FOLDER}/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs warpalign OUTPUT_VARIABLE flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "pkg-config does not find the installed warpalign")
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} -std=c++20 ${SOURCE}/main.cpp -o ${work}/consumer ${flags})
  set(ENV{LD_LIBRARY_PATH} ${work}/moved/${LIBRARY_FOLDER})
  run(${work}/consumer)
endif()
