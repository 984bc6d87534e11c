// json_text.h: JSON that every parser takes, from Google Benchmark's.
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <string>

// Google Benchmark (1.7.1 at least) escapes what has a letter in JSON, but leaves other control characters and bytes
// that are no UTF-8 as they are, which the name of a directory may contain: those are escaped here, and such bytes
// become U+FFFD.
std::string ValidJson(const std::string &json);

#endif
