/* A library that leaves a file when it is loaded, for folders from which nothing may be loaded. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_trace(void) {
  const char* path = getenv("WARPALIGN_TEST_TRACE");
  FILE* trace = path != NULL ? fopen(path, "w") : NULL;
  if (trace != NULL) fclose(trace);
}
