/* measure_memory FILE PROGRAM ARGUMENT...: runs a program as its own child, ends as it ended, and
 * writes the kilobytes of its peak resident memory to the file. The tests cannot measure a program
 * that they start themselves: Linux counts the memory of a process before its `exec` with that
 * after it, so the child of a test that holds 200 MB has a peak of 200 MB. This one holds nothing. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** arguments) {
  if (count < 3) return 127;
  const pid_t child = fork();
  if (child < 0) return 127;
  if (child == 0) {
    execv(arguments[2], arguments + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage used;
  if (wait4(child, &status, 0, &used) != child) return 127;
  FILE* file = fopen(arguments[1], "w");
  if (file == NULL || fprintf(file, "%ld\n", used.ru_maxrss) < 0 || fclose(file) != 0) return 127;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return 128 + WTERMSIG(status);
}
