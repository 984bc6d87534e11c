/* spoiled.c: the sentences that the table, stderr and the keys `spoiled` and `went_without` of the results show. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"
#include "spoiled.h"

static char spoiled[8192], went_without[2048];

/* Whether `sentence` is one of the lines. */
static bool is_known(const char *lines, const char *sentence) {
  size_t length = strlen(sentence);
  for (const char *line = lines; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, sentence, length) == 0 && (line[length] == '\n' || line[length] == '\0'))
      return true;
  }
  return false;
}

/* Adds a line unless it is there; false if it is. */
static bool add(char *lines, size_t size, const char *sentence) {
  char shown[512];
  printable(sentence, shown, sizeof shown);
  size_t used = strlen(lines);
  if (*shown == '\0' || (used > 0 && is_known(lines, shown)))
    return false;
  snprintf(lines + used, size - used, "%s%s", used ? "\n" : "", shown);
  return true;
}

void spoiled_add(const char *format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  (void)add(spoiled, sizeof spoiled, sentence);
}

const char *spoiled_text(void) {
  return spoiled;
}

void went_without_add(const char *lines) {
  char sentence[512];
  for (const char *next; *lines; lines = next) {
    size_t length = strcspn(lines, "\n");
    next = lines + length + (lines[length] == '\n');
    snprintf(sentence, sizeof sentence, "%.*s", (int)length, lines);
    if (add(went_without, sizeof went_without, sentence))
      complain("%s; measured without it", sentence);
  }
}

const char *went_without_text(void) {
  return went_without;
}
