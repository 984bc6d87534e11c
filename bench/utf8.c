/* utf8.c: the Unicode Standard, section 3.9. */
#include "utf8.h"

size_t utf8_decode(const char *text, size_t size, uint32_t *code) {
  const unsigned char *bytes = (const unsigned char *)text;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc0 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (length <= 1) {
    *code = bytes[0];
    return length;
  }
  *code = bytes[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if (i >= size || (bytes[i] & 0xc0) != 0x80)
      return 0;
    *code = *code << 6 | (bytes[i] & 0x3fu);
  }
  if (bytes[0] >= 0xf8 || *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
    return 0;
  return length;
}
