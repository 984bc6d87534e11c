/* json_text.c: escapes what Google Benchmark leaves unescaped. */
#include "json_text.h"
#include "utf8.h"

void json_text_add(struct text *text, const char *json, size_t size) {
  for (size_t i = 0; i < size;) {
    uint32_t code;
    size_t length = utf8_decode(json + i, size - i, &code);
    if (length > 0 && (code >= 0x20 || code == '\n')) /* in strings a newline is escaped already */
      text_add_bytes(text, json + i, length);
    else
      text_add(text, "\\u%04x", length > 0 ? (unsigned)code : 0xfffdu);
    i += length > 0 ? length : 1;
  }
}
