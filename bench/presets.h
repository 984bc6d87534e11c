/* presets.h: named sets of options. */
#ifndef PRESETS_H
#define PRESETS_H

#ifdef __cplusplus
extern "C" {
#endif

/* A preset fills what the user does not give. Each line is one product of options, as on the
 * command line; the rows of all lines are measured together. Google Benchmark's flags in a line are
 * defaults for the whole run. */
struct preset {
  const char *name;
  const char *doc;          /* one line */
  const char *const *lines; /* ends with NULL */
};

extern const struct preset presets[]; /* ends with a NULL name */

/* The preset of that name, or NULL. */
const struct preset *preset_find(const char *name);

/* All lines of a preset as one text with a newline after each, for the caller to free. */
char *preset_text(const struct preset *preset);

/* The text of a preset file, for the caller to free; NULL after one line on stderr that says why there is none. */
char *preset_file_text(const char *path);

#ifdef __cplusplus
}
#endif

#endif
