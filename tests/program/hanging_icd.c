/* An OpenCL driver that hangs when it is opened. */
#include <unistd.h>

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
