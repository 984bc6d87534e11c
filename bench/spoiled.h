/* spoiled.h: collects all that spoils the figures of a run. */
#ifndef SPOILED_H
#define SPOILED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Adds one sentence, which needs neither a full stop nor a newline, before the results are written. A sentence that is
 * there already is not repeated; what does not fit into a line, or into a few thousand bytes of all lines, is cut. Not
 * for several threads at once. */
__attribute__((format(printf, 1, 2))) void spoiled_add(const char *format, ...);

/* All sentences in the order in which they came, with a newline between two of them; "" where nothing spoils the
 * figures. */
const char *spoiled_text(void);

/* Adds what the suite went without: lines such as "flock: Bad file descriptor", as a workspace notes them. A line that
 * is new is told on stderr too. Not for several threads at once. */
void went_without_add(const char *lines);

/* All these lines. */
const char *went_without_text(void);

#ifdef __cplusplus
}
#endif

#endif
