/* text.c: text that grows. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "text.h"

static void end_without_memory(void) {
  complain("out of memory");
  exit(1);
}

void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (memory == NULL)
    end_without_memory();
  return memory;
}

/* Room for `more` bytes and a NUL. */
static void make_room(struct text *text, size_t more) {
  if (more < text->room - text->length)
    return;
  size_t room = 2 * (text->length + more) + 64;
  char *bytes = realloc(text->bytes, room);
  if (bytes == NULL)
    end_without_memory();
  text->bytes = bytes;
  text->room = room;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length) {
  make_room(text, length);
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0) {
    make_room(text, (size_t)length);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void text_free(struct text *text) {
  free(text->bytes);
  *text = (struct text){0};
}
