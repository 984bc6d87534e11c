/* circumstances.c: what the heading names, and what spoils the figures from the begin of a run on. */
#include "circumstances.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "printable.h"
#include "spoiled.h"
#include "sync_proof.h"

/* Reads a fact, unescaped; false where it is unknown. */
static bool read_fact(const struct options *options, const char *key, char value[GATHER_FACT_MAX]) {
  return gather_environment_read(options->dir, key, value, GATHER_FACT_MAX) == 0;
}

void circumstances_fact(const struct options *options, const char *key, const char *unknown, char *value, size_t size) {
  char fact[GATHER_FACT_MAX];
  printable(read_fact(options, key, fact) ? fact : unknown, value, size);
}

#define WAITS    "each write waits for the device, whatever the row says"
#define NO_FLUSH "no sync empties the device's cache"

/* Options of a mount, and attributes of a directory, that decide what a write costs: the heading names them. */
static const struct {
  const char *key, *item;
  const char *spoils; /* why a row is then not what its name says, or NULL */
} decisive[] = {
    {"mount_options", "sync", WAITS},
    {"mount_options", "barrier=0", NO_FLUSH},
    {"mount_options", "nobarrier", NO_FLUSH},
    {"mount_options", "volatile", "no sync does anything"},
    {"mount_options", "fsync=volatile", "no sync does anything"},
    {"mount_options", "dirsync", NULL},
    {"mount_options", "wsync", NULL},
    {"mount_options", "data=journal", NULL},
    {"mount_options", "dax", NULL},
    {"mount_options", "dax=always", NULL},
    {"mount_options", "compress", NULL},
    {"mount_options", "compress-force", NULL},
    {"directory_flags", "sync", WAITS},
    {"directory_flags", "dirsync", NULL},
    {"directory_flags", "compress", NULL},
    {"directory_flags", "nocow", NULL},
    {"directory_flags", "journal-data", NULL},
    {"directory_flags", "dax", NULL},
};

/* Whether a comma-separated list has that item, or with a value, ITEM=VALUE. */
static bool has_item(const char *list, const char *item) {
  size_t length = strlen(item);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, item, length) == 0 && strchr(",=", at[length]))
      return true;
  }
  return false;
}

/* Appends to text[size], with a separator unless it is the first. */
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, const char *separator,
                                                         const char *format, ...) {
  size_t used = strlen(text);
  if (used > 0) {
    snprintf(text + used, size - used, "%s", separator);
    used = strlen(text);
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

/* The next row from `from` on whose item the fact has; -1 after the last. Rows of one key stand together, so that each
 * fact is read once; value is the caller's, "" at first. */
static int next_decisive(const struct options *options, int from, char value[GATHER_FACT_MAX]) {
  for (int i = from; i < (int)(sizeof decisive / sizeof *decisive); i++) {
    if ((i == 0 || strcmp(decisive[i].key, decisive[i - 1].key) != 0) && !read_fact(options, decisive[i].key, value))
      *value = '\0';
    if (has_item(value, decisive[i].item))
      return i;
  }
  return -1;
}

/* " (sync, compress)", or nothing. */
static void list_decisive(const struct options *options, char *text, size_t size) {
  char items[256] = "", value[GATHER_FACT_MAX] = "";
  for (int i = -1; (i = next_decisive(options, i + 1, value)) >= 0;)
    append(items, sizeof items, ", ", "%s%s", *decisive[i].key == 'd' ? "chattr " : "", decisive[i].item);
  *text = '\0';
  if (*items)
    snprintf(text, size, " (%s)", items);
}

static void describe_emulation(const struct options *options, char *text, size_t size) {
  char emulated[128];
  static const char yes[] = "yes, by ";
  circumstances_fact(options, "emulated", "not known", emulated, sizeof emulated);
  const char *by = strncmp(emulated, yes, strlen(yes)) == 0 ? emulated + strlen(yes) : emulated;
  if (strcmp(emulated, "no") == 0)
    snprintf(text, size, "not emulated");
  else if (strcmp(emulated, "not known") == 0)
    snprintf(text, size, "emulated or not: not known");
  else
    snprintf(text, size, "emulated by %s", by);
}

/* The heading's second line. What is unknown or usual is left out. */
static void describe_machine(const struct options *options, char *text, size_t size) {
  char value[GATHER_FACT_MAX], other[GATHER_FACT_MAX];
  *text = '\0';
  if (read_fact(options, "processors", value))
    append(text, size, ", ", "%s processor%s", value, strcmp(value, "1") == 0 ? "" : "s");
  if (read_fact(options, "virtualization", value) && strcmp(value, "no") != 0)
    append(text, size, ", ", "virtual (%s)", value);
  if (read_fact(options, "mitigations", value) && strstr(value, "meltdown: PTI"))
    append(text, size, ", ", "page-table isolation");
  if (read_fact(options, "memory_limit_bytes", value) && strcmp(value, "none") != 0)
    append(text, size, ", ", "memory limit %.2g GB", strtod(value, NULL) * 1e-9);
  if (options_disk_bytes(options) > 0 && read_fact(options, "device_write_cache", value))
    append(text, size, "; ", "device %s%s", value,
           read_fact(options, "device_rotational", other) && strcmp(other, "yes") == 0 ? ", rotational" : "");
  if (strncmp(sync_proof_text(), "not known", strlen("not known")) ==
      0) /* what is known spoils, or is as it should be */
    append(text, size, "; ", "whether syncs reach the device is %s", sync_proof_text());
  if (read_fact(options, "libc", value))
    append(text, size, "; ", "%s", value);
  if (read_fact(options, "compiler", value) && read_fact(options, "compiler_flags", other))
    append(text, size, ", ", "%.40s %.40s", value, other);
}

void circumstances_heading(const struct options *options, char *lines, size_t size) {
  char kernel[256], machine[256], emulation[256], filesystem[256], mounted[300], dir[PATH_MAX], facts[512], shown[1024];
  circumstances_fact(options, "kernel", "unknown kernel", kernel, sizeof kernel);
  circumstances_fact(options, "machine", "unknown machine", machine, sizeof machine);
  circumstances_fact(options, "filesystem", "unknown file system", filesystem, sizeof filesystem);
  describe_emulation(options, emulation, sizeof emulation);
  list_decisive(options, mounted, sizeof mounted);
  describe_machine(options, facts, sizeof facts);
  snprintf(lines, size, "%s, %s, %s; %s%s in %s%s%s", kernel, machine, emulation, filesystem, mounted,
           printable(options->dir, dir, sizeof dir), *facts ? "\n" : "", printable(facts, shown, sizeof shown));
}

/* What slows system calls down or may replace them. */
static const struct {
  const char *key, *before, *behind;
} in_the_way[] = {
    {"traced", "traced by ", ": the tracer stops the run at system calls"},
    {"seccomp", "seccomp ", ": each system call is checked before it is made"},
    {"preload", "preloaded: ", ", which may stand in for the calls under test"},
};

/* Usual capacities of streams: with less a writer waits in the middle of its batch. */
static const struct {
  const char *target, *key, *what;
  long usual_bytes;
} streams[] = {
    {"pipe", "pipe_capacity_bytes", "a pipe holds", 65536},
    {"unix", "socket_capacity_bytes", "a socket's buffer holds", 212992},
};

static bool writes_to(const struct options *options, const char *target) {
  for (size_t i = 0; i < options->rows_count; i++)
    if (!options->rows[i].refused && strcmp(options->rows[i].plan.target->name, target) == 0)
      return true;
  return false;
}

void circumstances_spoil(const struct options *options) {
  char value[GATHER_FACT_MAX];
  for (size_t i = 0; i < sizeof in_the_way / sizeof *in_the_way; i++)
    if (read_fact(options, in_the_way[i].key, value) && strcmp(value, "no") != 0)
      spoiled_add("%s%.200s%s", in_the_way[i].before, value, in_the_way[i].behind);
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
    if (writes_to(options, streams[i].target) && read_fact(options, streams[i].key, value) &&
        atol(value) < streams[i].usual_bytes)
      spoiled_add("%s %s bytes here, usually %ld", streams[i].what, value, streams[i].usual_bytes);
  if (options_disk_bytes(options) == 0)
    return;
  *value = '\0';
  for (int i = -1; (i = next_decisive(options, i + 1, value)) >= 0;)
    if (decisive[i].spoils)
      spoiled_add("%.200s %s %s: %s", options->dir, *decisive[i].key == 'm' ? "is mounted with" : "has the attribute",
                  decisive[i].item, decisive[i].spoils);
}
