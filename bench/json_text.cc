#include "json_text.h"

#include <algorithm>
#include <cstdio>

namespace {

// What a UTF-8 sequence may begin with, and the range of its second byte: neither longer than need be, nor a surrogate,
// nor beyond U+10FFFF (the Unicode Standard, table 3-7). Further bytes are 0x80 to 0xbf.
struct Sequence {
  unsigned char first_least, first_most, second_least, second_most;
  size_t length;
};
constexpr Sequence sequences[] = {
    {0x20, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

// The length of the character at `begin`, or 0 where there is none but a control character or a stray byte.
size_t CharacterLength(const std::string &text, size_t begin) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(begin + i < text.size() ? text[begin + i] : 0); };
  for (const Sequence &sequence : sequences) {
    if (byte(0) < sequence.first_least || byte(0) > sequence.first_most)
      continue;
    if (sequence.length > 1 && (byte(1) < sequence.second_least || byte(1) > sequence.second_most))
      return 0;
    for (size_t i = 2; i < sequence.length; i++)
      if (byte(i) < 0x80 || byte(i) > 0xbf)
        return 0;
    return sequence.length;
  }
  return 0;
}

} // namespace

std::string ValidJson(const std::string &json) {
  std::string valid;
  valid.reserve(json.size());
  for (size_t i = 0; i < json.size();) {
    const size_t length = json[i] == '\n' ? 1 : CharacterLength(json, i); // in strings a newline is escaped already
    if (length > 0) {
      valid.append(json, i, length);
    } else {
      char escaped[8];
      const auto byte = static_cast<unsigned char>(json[i]);
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte < 0x20 ? byte : 0xfffdU);
      valid += escaped;
    }
    i += std::max<size_t>(length, 1);
  }
  return valid;
}
