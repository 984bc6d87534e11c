/* environment_emulation.c: whether the program is translated for another processor than the one it runs on. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "environment_internal.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#else
#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>
#endif

#ifdef __APPLE__
/* Apple, "About the Rosetta translation environment": 1 where the process is translated. */
static bool is_translated(void) {
  int translated = 0;
  size_t size = sizeof translated;
  return sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0 && translated == 1;
}

static int emulated(const char *dir, char *value, size_t size) {
  (void)dir;
  return gather_fact_text(value, size, is_translated() ? "Rosetta 2" : "no");
}

static int host_machine(const char *dir, char *value, size_t size) {
  return is_translated() ? gather_fact_text(value, size, "arm64") : machine(dir, value, size);
}
#else
/* The program that the kernel really runs for us. qemu-user answers /proc/self/exe with the emulated program's path,
 * but not this one, which is the emulator's. */
#define REAL_EXE "/proc/thread-self/exe"

/* Names of ELF's machines (elf(5), e_machine) as uname(2) gives them. */
static const struct {
  unsigned machine;
  const char *name;
} elf_machines[] = {
    {EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i686"},   {EM_ARM, "armv7l"},
    {EM_RISCV, "riscv64"}, {EM_PPC64, "ppc64le"},   {EM_S390, "s390x"},
};

/* The machine for which the program that the kernel runs was built. */
static int host_machine(const char *dir, char *value, size_t size) {
  (void)dir;
  FILE *file = fopen(REAL_EXE, "re");
  if (file == NULL)
    return -errno;
  unsigned char header[20]; /* e_ident, e_type and e_machine lie alike in all classes */
  size_t length = fread(header, 1, sizeof header, file);
  if (fclose(file) != 0)
    return -errno;
  if (length != sizeof header || memcmp(header, ELFMAG, SELFMAG) != 0)
    return -ENOEXEC;
  bool little = header[EI_DATA] == ELFDATA2LSB;
  unsigned found = little ? header[18] | header[19] << 8 : header[19] | header[18] << 8;
  for (size_t i = 0; i < sizeof elf_machines / sizeof *elf_machines; i++)
    if (elf_machines[i].machine == found)
      return gather_fact_text(value, size, elf_machines[i].name);
  return -ENOEXEC;
}

enum { VERSION_BYTES = 64 };

/* What an emulator says of its version: "qemu-aarch64 version 7.2.22 (...)". It is started by its own path, on the real
 * machine. */
static int emulator_version(const char *path, char version[VERSION_BYTES]) {
  int ends[2];
  if (pipe(ends) < 0)
    return -errno;
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error)
    goto out_pipe;
  char program[PATH_MAX], flag[] = "--version";
  snprintf(program, sizeof program, "%s", path);
  char *argv[] = {program, flag, NULL};
  error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!error)
    error = posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child;
  if (!error)
    error = posix_spawn(&child, path, &actions, NULL, argv, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (error)
    goto out_pipe;
  (void)close(ends[1]);
  FILE *output = fdopen(ends[0], "r");
  char line[256] = "";
  if (output == NULL || fgets(line, sizeof line, output) == NULL)
    error = EIO;
  if (output)
    (void)fclose(output);
  else
    (void)close(ends[0]);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (!error && sscanf(line, "%*s version %63s", version) != 1)
    error = EIO;
  return -error;

out_pipe:
  (void)close(ends[0]);
  (void)close(ends[1]);
  return -error;
}

static int emulated(const char *dir, char *value, size_t size) {
  (void)dir;
  char path[PATH_MAX];
  ssize_t length = readlink(REAL_EXE, path, sizeof path - 1);
  if (length < 0)
    return -errno;
  path[length] = '\0';
  const char *slash = strrchr(path, '/');
  if (strncmp(slash ? slash + 1 : path, "qemu-", 5) != 0)
    return gather_fact_text(value, size, "no");
  char version[VERSION_BYTES];
  if (emulator_version(path, version) != 0)
    return gather_fact_text(value, size, "qemu-user");
  return snprintf(value, size, "qemu-user %s", version) < 0 ? -EINVAL : 0;
}
#endif

const struct gather_environment_item gather_emulation_facts[] = {
    {"emulated", emulated},
    {"host_machine", host_machine},
    {NULL, NULL},
};
