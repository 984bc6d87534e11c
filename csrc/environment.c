/* environment.c: what machine and directory a run used, and what the kernel counted meanwhile. A
 * new fact is a function and a row of the table. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "internal.h"

#ifdef __APPLE__
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#else
#include <elf.h>
#include <spawn.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#endif

static int print(char *value, size_t size, const char *text) {
  return snprintf(value, size, "%s", text) < 0 ? -EINVAL : 0;
}

int gather_kernel_counts_read(struct gather_kernel_counts *counts) {
  /* Two small reads of the same file: neither writes, so neither is counted. */
  int error = gather_read_number("/proc/thread-self/io", "syscw", &counts->write_calls);
  return error ? error : gather_read_number("/proc/thread-self/io", "write_bytes", &counts->device_bytes);
}

int gather_dirty_bytes(uint64_t *bytes) {
  uint64_t kib;
  int error = gather_read_number("/proc/meminfo", "Dirty", &kib);
  if (!error)
    *bytes = kib * 1024;
  return error;
}

/* The line "cpu  user nice system idle iowait irq softirq steal ..." of /proc/stat (proc(5)), in clock ticks. */
static bool read_processors(char *line, void *context) {
  unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
  if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq, &softirq,
             &steal) != 8)
    return false;
  uint64_t *ticks = context;
  ticks[0] = user + nice + system + irq + softirq + steal;
  ticks[1] = ticks[0] + idle + iowait;
  return true;
}

int gather_processor_times_read(struct gather_processor_times *times) {
  uint64_t ticks[2] = {0};
  struct rusage own;
  int error = gather_scan("/proc/stat", read_processors, ticks);
  if (error)
    return error == -ENOENT ? -ENOSYS : error;
  if (getrusage(RUSAGE_SELF, &own) < 0)
    return -errno;
  uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
  uint64_t own_ns = ((uint64_t)own.ru_utime.tv_sec + (uint64_t)own.ru_stime.tv_sec) * 1000000000 +
                    ((uint64_t)own.ru_utime.tv_usec + (uint64_t)own.ru_stime.tv_usec) * 1000;
  uint64_t busy_ns = ticks[0] * tick_ns;
  times->all_ns = ticks[1] * tick_ns;
  times->others_ns = busy_ns > own_ns ? busy_ns - own_ns : 0;
  return 0;
}

int gather_free_bytes(const char *dir, uint64_t *bytes) {
  struct statvfs status;
  if (statvfs(dir, &status) < 0)
    return -errno;
  if (status.f_blocks == 0)
    return -ENOSYS; /* as on ramfs, a tmpfs without a limit, and some of FUSE's: nothing is told */
  *bytes = (uint64_t)status.f_bavail * status.f_frsize;
  return 0;
}

static int kernel(const char *dir, char *value, size_t size) {
  (void)dir;
  struct utsname name;
  if (uname(&name) < 0)
    return -errno;
  return snprintf(value, size, "%s %s", name.sysname, name.release) < 0 ? -EINVAL : 0;
}

static int machine(const char *dir, char *value, size_t size) {
  (void)dir;
  struct utsname name;
  return uname(&name) < 0 ? -errno : print(value, size, name.machine);
}

#ifdef __APPLE__
static int cpu(const char *dir, char *value, size_t size) {
  (void)dir;
  return sysctlbyname("machdep.cpu.brand_string", value, &size, NULL, 0) < 0 ? -errno : 0;
}
#else
static int cpu(const char *dir, char *value, size_t size) {
  (void)dir;
  struct gather_field field = {.key = "model name"};
  int error = gather_scan("/proc/cpuinfo", gather_read_field, &field);
  return error ? error : print(value, size, field.value);
}
#endif

/* --- Emulation. --- */

#ifdef __APPLE__
/* Apple, "About the Rosetta translation environment": 1 where the process is translated. */
static bool is_translated(void) {
  int translated = 0;
  size_t size = sizeof translated;
  return sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0 && translated == 1;
}

static int emulated(const char *dir, char *value, size_t size) {
  (void)dir;
  return print(value, size, is_translated() ? "Rosetta 2" : "no");
}

static int host_machine(const char *dir, char *value, size_t size) {
  return is_translated() ? print(value, size, "arm64") : machine(dir, value, size);
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
      return print(value, size, elf_machines[i].name);
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
    return print(value, size, "no");
  char version[VERSION_BYTES];
  if (emulator_version(path, version) != 0)
    return print(value, size, "qemu-user");
  return snprintf(value, size, "qemu-user %s", version) < 0 ? -EINVAL : 0;
}
#endif

static int directory(const char *dir, char *value, size_t size) {
  return print(value, size, dir);
}

#ifdef __APPLE__
static int filesystem(const char *dir, char *value, size_t size) {
  struct statfs status;
  return statfs(dir, &status) < 0 ? -errno : print(value, size, status.f_fstypename);
}

static int mount_options(const char *dir, char *value, size_t size) {
  (void)dir;
  (void)value;
  (void)size;
  return -ENOSYS;
}

static int device(const char *dir, char *value, size_t size) {
  struct statfs status;
  return statfs(dir, &status) < 0 ? -errno : print(value, size, status.f_mntfromname);
}
#else
/* Numbers of file systems (statfs(2), linux/magic.h), for where no mount point is visible, as in a chroot. */
static const struct {
  unsigned long magic;
  const char *name;
} filesystem_magics[] = {
    {0xef53, "ext4"},     {0x58465342, "xfs"}, {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"}, {0x794c7630, "overlay"},
    {0x65735546, "fuse"}, {0x6969, "nfs"},     {0xf2f52010, "f2fs"},  {0x2fc12fc1, "zfs"},
};

static int filesystem(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  int error = gather_mount_find(dir, &mount);
  if (!error)
    return print(value, size, mount.type);
  struct statfs status;
  if (statfs(dir, &status) < 0)
    return -errno;
  for (size_t i = 0; i < sizeof filesystem_magics / sizeof *filesystem_magics; i++)
    if (filesystem_magics[i].magic == ((unsigned long)status.f_type & 0xffffffff))
      return print(value, size, filesystem_magics[i].name);
  return error;
}

static int mount_options(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  int error = gather_mount_find(dir, &mount);
  return error ? error : print(value, size, mount.options);
}

static int device(const char *dir, char *value, size_t size) {
  struct gather_mount mount;
  int error = gather_mount_find(dir, &mount);
  return error ? error : print(value, size, mount.source);
}

#endif

static int free_bytes(const char *dir, char *value, size_t size) {
  uint64_t bytes = 0;
  int error = gather_free_bytes(dir, &bytes);
  return error ? error : snprintf(value, size, "%" PRIu64, bytes) < 0 ? -EINVAL : 0;
}

static int cpu_governor(const char *dir, char *value, size_t size) {
  (void)dir;
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
  if (file == NULL)
    return -errno;
  int error = fgets(value, (int)size, file) ? 0 : -ENOENT;
  if (fclose(file) != 0 && !error)
    error = -errno;
  if (!error)
    value[strcspn(value, "\n")] = '\0';
  return error;
}

static int cpu_affinity(const char *dir, char *value, size_t size) {
  (void)dir;
  struct gather_field field = {.key = "Cpus_allowed_list"};
  int error = gather_scan("/proc/self/status", gather_read_field, &field);
  return error ? error : print(value, size, field.value);
}

const struct gather_environment_item gather_environment[] = {
    {"kernel", kernel},
    {"machine", machine},
    {"cpu", cpu},
    {"emulated", emulated},
    {"host_machine", host_machine},
    {"directory", directory},
    {"filesystem", filesystem},
    {"mount_options", mount_options},
    {"device", device},
    {"free_bytes", free_bytes},
    {"cpu_governor", cpu_governor},
    {"cpu_affinity", cpu_affinity},
    {NULL, NULL},
};
