/* environment_emulation.c: whether the program is translated for another processor than the one it runs on. */
#include <errno.h>
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
#include <link.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#endif

/* Reported where emulation cannot be determined: never "no". */
#define NOT_KNOWN "not known"

#ifdef __APPLE__
/* Apple, "About the Rosetta translation environment": 1 where the process is translated, 0 where not, and an unknown
 * name on a system without Rosetta. -errno where it cannot be determined. */
static int is_translated(void) {
  int translated = 0;
  size_t size = sizeof translated;
  if (sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0)
    return translated == 1;
  return errno == ENOENT ? 0 : -errno;
}

static int emulated(const char *dir, char *value, size_t size) {
  (void)dir;
  int translated = is_translated();
  return gather_fact_text(value, size, translated < 0 ? NOT_KNOWN : translated ? "Rosetta 2" : "no");
}

static int host_machine(const char *dir, char *value, size_t size) {
  (void)dir;
  struct utsname name;
  int translated = is_translated();
  if (translated < 0 || uname(&name) < 0)
    return translated < 0 ? translated : -errno;
  return gather_fact_text(value, size, translated ? "arm64" : name.machine);
}
#else
/* Link to the program that the kernel runs: the emulator, if there is one. Emulators answer /proc/self/exe with the
 * emulated program's path, but not this one. */
#define REAL_EXE "/proc/thread-self/exe"

/* Names of ELF's machines (elf(5), e_machine) as uname(2) gives them. */
static const struct {
  unsigned machine;
  const char *name;
} elf_machines[] = {
    {EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i686"},   {EM_ARM, "armv7l"},
    {EM_RISCV, "riscv64"}, {EM_PPC64, "ppc64le"},   {EM_S390, "s390x"},
};

/* The program that the kernel runs. */
struct image {
  unsigned machine; /* ELF's number */
  bool is_ours;     /* it is this very program */
};

/* Whether the file's program headers are those that this process was started with. */
static bool has_our_headers(FILE *file, const unsigned char ident[EI_NIDENT]) {
  const int our_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  const int our_data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if (ident[EI_CLASS] != our_class || ident[EI_DATA] != our_data)
    return false;
  ElfW(Ehdr) header;
  const char *ours = (const char *)getauxval(AT_PHDR);
  size_t bytes = getauxval(AT_PHNUM) * sizeof(ElfW(Phdr));
  char theirs[64 * sizeof(ElfW(Phdr))];
  if (ours == NULL || bytes == 0 || bytes > sizeof theirs || fseek(file, 0, SEEK_SET) != 0 ||
      fread(&header, 1, sizeof header, file) != sizeof header || header.e_phnum != getauxval(AT_PHNUM) ||
      fseek(file, (long)header.e_phoff, SEEK_SET) != 0)
    return false;
  return fread(theirs, 1, bytes, file) == bytes && memcmp(ours, theirs, bytes) == 0;
}

/* Whether the file is the dynamic loader that this program names: `/lib/ld.so PROGRAM` runs natively too. */
static bool is_our_loader(FILE *file) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  struct stat loader, status;
  const ElfW(Phdr) *interpreter = NULL, *self = NULL;
  for (size_t i = 0; headers && i < getauxval(AT_PHNUM); i++) {
    interpreter = headers[i].p_type == PT_INTERP ? &headers[i] : interpreter;
    self = headers[i].p_type == PT_PHDR ? &headers[i] : self;
  }
  if (interpreter == NULL || self == NULL)
    return false;
  const char *path = (const char *)headers - self->p_vaddr + interpreter->p_vaddr;
  return stat(path, &loader) == 0 && fstat(fileno(file), &status) == 0 && loader.st_dev == status.st_dev &&
         loader.st_ino == status.st_ino;
}

/* A translator differs from this program in its machine or, on its own machine, in its program headers. */
static int read_image(struct image *image) {
  FILE *file = fopen(REAL_EXE, "re");
  if (file == NULL)
    return -errno;
  unsigned char header[20] = {0}; /* e_ident, e_type and e_machine lie alike in all classes */
  int error = 0;
  if (fread(header, 1, sizeof header, file) != sizeof header || memcmp(header, ELFMAG, SELFMAG) != 0)
    error = -ENOEXEC;
  bool little = header[EI_DATA] == ELFDATA2LSB;
  image->machine = little ? header[18] | (unsigned)header[19] << 8 : header[19] | (unsigned)header[18] << 8;
  image->is_ours = !error && (has_our_headers(file, header) || is_our_loader(file));
  return fclose(file) != 0 && !error ? -errno : error;
}

/* The machine for which the program that the kernel runs was built. */
static int host_machine(const char *dir, char *value, size_t size) {
  (void)dir;
  struct image image;
  int error = read_image(&image);
  for (size_t i = 0; !error && i < sizeof elf_machines / sizeof *elf_machines; i++)
    if (elf_machines[i].machine == image.machine)
      return gather_fact_text(value, size, elf_machines[i].name);
  return error ? error : -ENOEXEC;
}

enum { VERSION_BYTES = 64 };

/* Asks an emulator for its version, as in "qemu-aarch64 version 7.2.22 (...)". Started by its own path it runs
 * natively. */
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
  struct image image;
  if (read_image(&image) != 0)
    return gather_fact_text(value, size, NOT_KNOWN);
  if (image.is_ours)
    return gather_fact_text(value, size, "no");
  char path[PATH_MAX];
  ssize_t length = readlink(REAL_EXE, path, sizeof path - 1);
  if (length < 0)
    return gather_fact_text(value, size, "yes");
  path[length] = '\0';
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (strncmp(name, "rosetta", strlen("rosetta")) == 0)
    return gather_fact_text(value, size, "Rosetta 2");
  if (strncmp(name, "qemu-", strlen("qemu-")) != 0) /* not asked for its version: it may be any program */
    return snprintf(value, size, "yes, by %s", name) < 0 ? -EINVAL : 0;
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
