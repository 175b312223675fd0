# Lets the program write its manual pages, which are then compressed, and its completion for each
# shell.
#
#   cmake -D PROGRAM=... -D FOLDER=... -P ProgramDocuments.cmake
cmake_policy(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${PROGRAM} man --output-folder ${FOLDER}/man1)
file(GLOB pages ${FOLDER}/man1/*.1)
find_program(GZIP gzip)
if(GZIP)
  run(${GZIP} -9n ${pages})
endif()
foreach(pair "bash;bash/warpalign" "zsh;zsh/_warpalign" "fish;fish/warpalign.fish")
  list(GET pair 0 shell)
  list(GET pair 1 name)
  file(MAKE_DIRECTORY ${FOLDER}/${shell})
  execute_process(COMMAND ${PROGRAM} completion ${shell} OUTPUT_FILE ${FOLDER}/${name}
                  RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${PROGRAM} completion ${shell}")
  endif()
endforeach()
file(TOUCH ${FOLDER}/done)
