/* printable.c: what may not reach a terminal as it is. The Python counterpart is results/gatherstats/text/safe.py. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"

enum { LINE_MAX_BYTES = PATH_MAX + 512 }; /* of a complaint: a path, and what is wrong with it */

/* Characters that a terminal acts on, or that hide or reverse what stands beside them. */
static const struct {
  uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
};

/* The bytes of the UTF-8 character at the start of `text`, and its code; 0 where there is none. */
static size_t decode(const char *text, uint32_t *code) {
  const unsigned char *bytes = (const unsigned char *)text;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* longer than it must be is no UTF-8 */
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc0 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (length <= 1) {
    *code = bytes[0];
    return length;
  }
  *code = bytes[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xc0) != 0x80)
      return 0;
    *code = *code << 6 | (bytes[i] & 0x3fu);
  }
  if (bytes[0] >= 0xf8 || *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
    return 0;
  return length;
}

static int is_hidden(uint32_t code) {
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (code >= hidden[i].first && code <= hidden[i].last)
      return 1;
  return 0;
}

char *printable(const char *text, char *out, size_t size) {
  static const char more[] = "...";
  size_t length = 0, fitting = 0; /* fitting: the longest part after which there is room for `more` */
  while (*text != '\0') {
    char shown[16];
    uint32_t code;
    size_t bytes = decode(text, &code);
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
