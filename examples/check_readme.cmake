# Fails when the README's example is not the one that is compiled.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "${example}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md does not contain ${EXAMPLE} word for word")
endif()
