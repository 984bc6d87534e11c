/* spoiled.c: the sentences that the table, stderr and the key `spoiled` of the results show. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"
#include "spoiled.h"

static char sentences[8192];

/* Whether `sentence` is one of the lines. */
static bool is_known(const char *sentence) {
  size_t length = strlen(sentence);
  for (const char *line = sentences; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, sentence, length) == 0 && (line[length] == '\n' || line[length] == '\0'))
      return true;
  }
  return false;
}

void spoiled_add(const char *format, ...) {
  char sentence[512], shown[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  printable(sentence, shown, sizeof shown);
  size_t used = strlen(sentences);
  if (*shown == '\0' || (used > 0 && is_known(shown)))
    return;
  snprintf(sentences + used, sizeof sentences - used, "%s%s", used ? "\n" : "", shown);
}

const char *spoiled_text(void) {
  return sentences;
}
