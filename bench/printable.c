/* printable.c: escapes what must not reach a terminal as it is. The Python counterpart is
 * results/gatherstats/text/safe.py. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"
#include "utf8.h"

enum { LINE_MAX_BYTES = PATH_MAX + 512 }; /* of a complaint: a path, and what is wrong with it */

/* Characters that a terminal acts on, or that hide or reverse what stands beside them. */
static const struct {
  uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
};

static int is_hidden(uint32_t code) {
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (code >= hidden[i].first && code <= hidden[i].last)
      return 1;
  return 0;
}

char *printable(const char *text, char *out, size_t size) {
  static const char more[] = "...";
  size_t left = strlen(text), length = 0,
         fitting = 0; /* fitting: the longest part after which there is room for `more` */
  while (*text != '\0') {
    char shown[16];
    uint32_t code;
    size_t bytes = utf8_decode(text, left, &code);
    if (bytes == 0 || (is_hidden(code) && code <= 0xff))
      snprintf(shown, sizeof shown, "\\x%02x", (unsigned)(bytes ? code : (unsigned char)*text));
    else if (is_hidden(code))
      snprintf(shown, sizeof shown, code <= 0xffff ? "\\u%04x" : "\\U%08x", (unsigned)code);
    else
      snprintf(shown, sizeof shown, "%.*s", (int)bytes, text);
    size_t added = strlen(shown);
    if (length + added >= size) {
      memcpy(out + fitting, more, sizeof more);
      return out;
    }
    memcpy(out + length, shown, added);
    length += added;
    if (length + sizeof more <= size)
      fitting = length;
    text += bytes ? bytes : 1;
    left -= bytes ? bytes : 1;
  }
  out[length] = '\0';
  return out;
}

int complain(const char *format, ...) {
  char message[LINE_MAX_BYTES], shown[LINE_MAX_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  fprintf(stderr, "gatherbench: %s\n", printable(message, shown, sizeof shown));
  return -EINVAL;
}
