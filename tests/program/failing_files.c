/* A library to preload (LD_PRELOAD) that lets one call fail which writes to a folder.
 *
 * FAILING_FOLDER  the folder, as realpath() gives it
 * FAILING_POINT   the number of the failing call, from 0; -1: none
 * FAILING_CODE    the errno of the failing call; 0: write() writes one byte only
 * FAILING_LOG     a file that gets a line for each call
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int point = 0;

static int in_folder(const char* path) {
  const char* folder = getenv("FAILING_FOLDER");
  return folder != NULL && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_in_folder(int descriptor) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return in_folder(path);
}

/* Whether a path, absolute or relative, is in the folder. */
static int leads_to_folder(const char* path) {
  char whole[8192];
  if (path == NULL || path[0] == '/') return in_folder(path);
  if (getcwd(whole, 4096) == NULL) return 0;
  strncat(whole, "/", 2);
  strncat(whole, path, 4000);
  return in_folder(whole);
}

/* Logs a call. Returns whether it must fail. */
static int fails(const char* call) {
  const char* log = getenv("FAILING_LOG");
  const char* wanted = getenv("FAILING_POINT");
  const int number = __atomic_fetch_add(&point, 1, __ATOMIC_SEQ_CST);
  if (log != NULL) {
    char line[64];
    const int length = snprintf(line, sizeof line, "%s\n", call);
    const long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, file, line, (size_t)length);
    syscall(SYS_close, file);
  }
  if (wanted == NULL || atoi(wanted) != number) return 0;
  const char* code = getenv("FAILING_CODE");
  errno = code == NULL ? EIO : atoi(code);
  return 1;
}

static void* real(const char* name) { return dlsym(RTLD_NEXT, name); }

static int opens_for_writing(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
}

#define DEFINE_OPEN(name)                                                           \
  int name(const char* path, int flags, ...) {                                      \
    mode_t mode = 0;                                                                \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {               \
      va_list rest;                                                                 \
      va_start(rest, flags);                                                        \
      mode = va_arg(rest, mode_t);                                                  \
      va_end(rest);                                                                 \
    }                                                                               \
    if (opens_for_writing(flags) && leads_to_folder(path) && fails("open")) return -1; \
    return ((int (*)(const char*, int, ...))real(#name))(path, flags, mode);        \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_in_folder(descriptor) && fails("write")) {
    if (errno != 0) return -1;
    count = count == 0 ? 0 : 1;
  }
  return ((ssize_t(*)(int, const void*, size_t))real("write"))(descriptor, bytes, count);
}

#define DEFINE_PWRITE(name, offset_type)                                                    \
  ssize_t name(int descriptor, const void* bytes, size_t count, offset_type offset) {       \
    if (is_in_folder(descriptor) && fails("pwrite")) {                                      \
      if (errno != 0) return -1;                                                            \
      count = count == 0 ? 0 : 1;                                                           \
    }                                                                                       \
    return ((ssize_t(*)(int, const void*, size_t, offset_type))real(#name))(descriptor, bytes, \
                                                                            count, offset); \
  }
DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off64_t)

#define DEFINE_TRUNCATE(name, offset_type)                                        \
  int name(int descriptor, offset_type size) {                                    \
    if (is_in_folder(descriptor) && fails("ftruncate")) return -1;                \
    return ((int (*)(int, offset_type))real(#name))(descriptor, size);            \
  }
DEFINE_TRUNCATE(ftruncate, off_t)
DEFINE_TRUNCATE(ftruncate64, off64_t)

#define DEFINE_OF_DESCRIPTOR(name)                                    \
  int name(int descriptor) {                                          \
    if (is_in_folder(descriptor) && fails(#name)) return -1;          \
    return ((int (*)(int))real(#name))(descriptor);                   \
  }
DEFINE_OF_DESCRIPTOR(fsync)
DEFINE_OF_DESCRIPTOR(fdatasync)

int fchmod(int descriptor, mode_t mode) {
  if (is_in_folder(descriptor) && fails("fchmod")) return -1;
  return ((int (*)(int, mode_t))real("fchmod"))(descriptor, mode);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (leads_to_folder(to) && fails("linkat")) return -1;
  return ((int (*)(int, const char*, int, const char*, int))real("linkat"))(from_folder, from,
                                                                            to_folder, to, flags);
}

int rename(const char* from, const char* to) {
  if (leads_to_folder(to) && fails("rename")) return -1;
  return ((int (*)(const char*, const char*))real("rename"))(from, to);
}

int mkdir(const char* path, mode_t mode) {
  if (leads_to_folder(path) && fails("mkdir")) return -1;
  return ((int (*)(const char*, mode_t))real("mkdir"))(path, mode);
}
