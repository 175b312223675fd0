/* A backend module of an old version: its table begins with another number. */
struct old_table {
  int abi;
  const char* name;
};

static const struct old_table table = {1, "opencl"};

__attribute__((visibility("default"))) const struct old_table* warpalign_backend_module(void) {
  return &table;
}
