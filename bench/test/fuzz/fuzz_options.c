/* fuzz_options.c: the command line and preset files with any bytes in them: an error or rows that hold together.
 *
 * An input is a command line, an argument a line; what follows a first NUL is the text of a preset file. The entry
 * point is libFuzzer's; replay.c gives it the files of the corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "options.h"

enum { ARGUMENTS_MAX = 64 };

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                          \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

static int compare_names(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Every row has a name of its own that begins with its scope, and sizes that add up. */
static void check_rows(const struct options *options) {
  const char **names = malloc((options->rows_count + 1) * sizeof *names);
  REQUIRE(names != NULL);
  size_t refused = 0;
  const uint64_t disk_bytes = options_disk_bytes(options);
  for (size_t i = 0; i < options->rows_count; i++) {
    const struct options_row *row = &options->rows[i];
    names[i] = row->name;
    REQUIRE(strncmp(row->name, row->plan.scope->name, strlen(row->plan.scope->name)) == 0);
    refused += row->refused != NULL;
    if (row->refused)
      continue;
    REQUIRE(row->plan.sizes_count >= 1 && row->plan.sizes_count <= GATHER_SIZES_MAX);
    REQUIRE(gather_plan_op_bytes(&row->plan) <= (uint64_t)INT64_MAX);
    REQUIRE(gather_plan_op_buffers(&row->plan) >= 1);
    REQUIRE(gather_plan_disk_bytes(&row->plan) <= disk_bytes);
  }
  REQUIRE(refused == options->refused_count);
  qsort(names, options->rows_count, sizeof *names, compare_names);
  for (size_t i = 1; i < options->rows_count; i++)
    REQUIRE(strcmp(names[i - 1], names[i]) != 0);
  free(names);
}

/* A file of these bytes, as an option that names it; returns its descriptor. */
static int write_preset(const uint8_t *data, size_t size, char *option, size_t room) {
  int fd = memfd_create("preset", MFD_CLOEXEC);
  REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  snprintf(option, room, "--preset-file=/proc/self/fd/%d", fd);
  return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  REQUIRE(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';

  char program[] = "gatherbench", preset[64];
  char *argv[ARGUMENTS_MAX + 3] = {program};
  int argc = 1, preset_fd = -1;
  size_t length = strlen(text);
  if (length < size) {
    preset_fd = write_preset(data + length + 1, size - length - 1, preset, sizeof preset);
    argv[argc++] = preset;
  }
  for (char *line = text, *next; line && *line && argc < ARGUMENTS_MAX; line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    /* The C library's regcomp takes any time and memory for what is repeated within itself: nothing of ours to fuzz. */
    if (strncmp(line, "--benchmark_filter", strlen("--benchmark_filter")) != 0 || strpbrk(line, "{\\(") == NULL)
      argv[argc++] = line;
  }

  struct options options;
  if (options_parse(&options, argc, argv) == 0)
    check_rows(&options);
  options_free(&options);
  if (preset_fd >= 0)
    close(preset_fd);
  free(text);
  return 0;
}
