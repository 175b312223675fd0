// A library to preload, which prevents the program from starting processes that help to compile.
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <string.h>

typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                     const posix_spawnattr_t*, char* const*, char* const*);

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  if (strcmp(path, "/proc/self/exe") == 0) return EAGAIN;
  const Spawn next = (Spawn)dlsym(RTLD_NEXT, "posix_spawn");
  return next(process, path, actions, attributes, arguments, environment);
}
