/* Uses an installed warpalign from C: exit status 0 if it has a device and refuses a null one. */
#include <warpalign/warpalign.h>

#include <stdio.h>

int main(void) {
  size_t count = 0;
  if (warpalign_list_devices(NULL, 0, &count) != WARPALIGN_OK) {
    fprintf(stderr, "%s\n", warpalign_last_error());
    return 2;
  }
  printf("warpalign %s lists %zu devices\n", warpalign_version(), count);
  const warpalign_device none = {0};
  return count > 0 && warpalign_close_device(none) == WARPALIGN_INVALID_HANDLE ? 0 : 1;
}
