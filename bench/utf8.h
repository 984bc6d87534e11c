/* utf8.h: the one decoder of UTF-8. */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the UTF-8 character at the start of a text of `size` bytes, at least one, and its code; 0 where there is
 * none: a stray byte, a sequence that is cut short or longer than it must be, a surrogate, or what is beyond U+10FFFF.
 */
size_t utf8_decode(const char *text, size_t size, uint32_t *code);

#endif
