/* An OpenCL driver that never comes back from being opened. */
#include <unistd.h>

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
