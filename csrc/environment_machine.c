/* environment_machine.c: the kernel, the processors and the memory. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cgroup.h"
#include "environment_internal.h"

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

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
  return uname(&name) < 0 ? -errno : gather_fact_text(value, size, name.machine);
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
  return error ? error : gather_fact_text(value, size, field.value);
}
#endif

static int cpu_governor(const char *dir, char *value, size_t size) {
  (void)dir;
  return gather_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", value, size);
}

static int processors(const char *dir, char *value, size_t size) {
  (void)dir;
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count < 1)
    return -ENOSYS;
  return snprintf(value, size, "%ld", count) < 0 ? -EINVAL : 0;
}

static int page_bytes(const char *dir, char *value, size_t size) {
  (void)dir;
  return snprintf(value, size, "%ld", sysconf(_SC_PAGESIZE)) < 0 ? -EINVAL : 0;
}

static int memory_bytes(const char *dir, char *value, size_t size) {
  (void)dir;
  long pages = sysconf(_SC_PHYS_PAGES);
  if (pages < 1)
    return -ENOSYS;
  uint64_t bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
  return snprintf(value, size, "%" PRIu64, bytes) < 0 ? -EINVAL : 0;
}

static void take_least_limit(const char *folder, void *context) {
  uint64_t *least = context, limit;
  if (gather_cgroup_number(folder, "memory.max", NULL, &limit) == 0 ||
      gather_cgroup_number(folder, "memory.limit_in_bytes", NULL, &limit) == 0)
    *least = limit < *least ? limit : *least;
}

/* "none" where there are control groups and none of them has a limit; version 1 then has one near 2^63. */
static int memory_limit_bytes(const char *dir, char *value, size_t size) {
  (void)dir;
  const uint64_t no_limit = UINT64_C(1) << 62;
  uint64_t least = no_limit;
  int error = gather_cgroup_each("memory", take_least_limit, &least);
  if (error)
    return error;
  if (least >= no_limit)
    return gather_fact_text(value, size, "none");
  return snprintf(value, size, "%" PRIu64, least) < 0 ? -EINVAL : 0;
}

static int transparent_hugepages(const char *dir, char *value, size_t size) {
  (void)dir;
  return gather_fact_choice(value, size, "/sys/kernel/mm/transparent_hugepage/enabled");
}

/* Adds the parts of a vulnerability's line that name work: "Mitigation: Retpolines; STIBP: disabled; BHI: Not
 * affected".
 */
static void add_mitigation(const char *name, char *line, char *value, size_t size) {
  const char *const prefix = "Mitigation: ";
  if (strncmp(line, prefix, strlen(prefix)) != 0)
    return;
  const char *separator = *value ? "; " : "";
  char *rest = line + strlen(prefix);
  for (char *part; (part = strsep(&rest, ";")) != NULL;) {
    part += strspn(part, " ");
    if (strstr(part, ": Not affected") || strstr(part, ": disabled") || strstr(part, ": Vulnerable"))
      continue;
    size_t used = strlen(value);
    snprintf(value + used, size - used, "%s%s%s", separator, separator[0] == ',' ? "" : name, part);
    separator = ", ";
  }
}

/* What the kernel does against the processor's faults whenever it is entered or left, which slows system calls down. */
static int mitigations(const char *dir, char *value, size_t size) {
  (void)dir;
  static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
  struct dirent **entries;
  int count = scandir(folder, &entries, NULL, alphasort);
  if (count < 0)
    return -errno;
  *value = '\0';
  for (int i = 0; i < count; i++) {
    char path[sizeof folder + sizeof entries[i]->d_name], name[sizeof entries[i]->d_name + 2], line[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    snprintf(name, sizeof name, "%s: ", entries[i]->d_name);
    if (entries[i]->d_name[0] != '.' && gather_read_line(path, line, sizeof line) == 0)
      add_mitigation(name, line, value, size);
    free(entries[i]);
  }
  free(entries);
  return *value ? 0 : gather_fact_text(value, size, "none");
}

/* Names of hypervisors, as CPUID and the firmware's tables give them. */
static const struct {
  const char *mark, *name;
} hypervisors[] = {
    {"KVMKVMKVM", "kvm"},
    {"Microsoft Hv", "hyper-v"},
    {"VMwareVMware", "vmware"},
    {"XenVMMXenVMM", "xen"},
    {"bhyve bhyve", "bhyve"},
    {"VBoxVBoxVBox", "virtualbox"},
    {"ACRNACRNACRN", "acrn"},
    {"QNXQVMBSQG", "qnx"},
    {"QEMU", "qemu"},
    {"KVM", "kvm"},
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"Xen", "xen"},
    {"Amazon EC2", "kvm"},
    {"Google Compute Engine", "kvm"},
    {"Parallels", "parallels"},
    {"xen", "xen"},
    {"linux,dummy-virt", "qemu"},
    {"Apple Virtualization", "apple"},
};

static int name_hypervisor(const char *said, char *value, size_t size) {
  for (size_t i = 0; i < sizeof hypervisors / sizeof *hypervisors; i++)
    if (strncmp(said, hypervisors[i].mark, strlen(hypervisors[i].mark)) == 0)
      return gather_fact_text(value, size, hypervisors[i].name);
  return -ENOSYS;
}

/* Only CPUID can say "no"; elsewhere nothing is known without a hypervisor that names itself. */
static int virtualization(const char *dir, char *value, size_t size) {
  char emulated[GATHER_FACT_MAX] = "";
  if (gather_environment_read(dir, "emulated", emulated, sizeof emulated) != 0 || strcmp(emulated, "no") != 0)
    return -ENOSYS; /* a translator would answer for the processor */
#if defined __x86_64__ || defined __i386__
  /* CPUID, leaf 1: ECX bit 31 is set by hypervisors; leaf 0x40000000: their name. */
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    if (!(c & (1u << 31)))
      return gather_fact_text(value, size, "no");
    unsigned name[4] = {0};
    __cpuid(0x40000000, a, name[0], name[1], name[2]);
    if (name_hypervisor((const char *)name, value, size) != 0)
      return gather_fact_text(value, size, "yes");
    return 0;
  }
#endif
  static const char *const files[] = {"/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible",
                                      "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char said[128];
    if (gather_read_line(files[i], said, sizeof said) == 0 && name_hypervisor(said, value, size) == 0)
      return 0;
  }
  return -ENOSYS;
}

const struct gather_environment_item gather_machine_facts[] = {
    {"kernel", kernel},
    {"machine", machine},
    {"cpu", cpu},
    {"processors", processors},
    {"cpu_governor", cpu_governor},
    {"mitigations", mitigations},
    {"virtualization", virtualization},
    {"page_bytes", page_bytes},
    {"memory_bytes", memory_bytes},
    {"memory_limit_bytes", memory_limit_bytes},
    {"transparent_hugepages", transparent_hugepages},
    {NULL, NULL},
};
