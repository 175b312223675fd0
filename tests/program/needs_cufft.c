/* A backend module that needs a library which the dynamic loader does not find, like the CUDA
 * backend without an installed CUDA. With ABSENT_LIBRARY, that library. */
#ifdef ABSENT_LIBRARY
int absent_function(void) { return 0; }
#else
int absent_function(void);

__attribute__((visibility("default"))) const void* warpalign_backend_module(void) {
  return absent_function() == 0 ? (const void*)0 : (const void*)1;
}
#endif
