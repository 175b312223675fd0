/* measure_memory FILE PROGRAM ARGUMENT...: runs a program as a child, exits with its status, and
 * writes its peak resident memory in kilobytes to FILE. Tests cannot measure a program that they
 * start themselves: the peak includes the memory of the process before its `exec`, so the child of
 * a test that holds 200 MB has a peak of at least 200 MB. This program holds hardly any memory. */
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
