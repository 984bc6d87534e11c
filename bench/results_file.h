// results_file.h: a results file is either the old one or the complete new one.
#ifndef RESULTS_FILE_H
#define RESULTS_FILE_H

#include <string>

#include <sys/types.h>

// Results are written into PATH.partial beside the file, which takes the file's name when they are
// complete. What a killed run left under that name is overwritten; a lock tells it from one that is
// still being written. All goes through one descriptor: whoever may change the directory can put a link
// in the place of a name.
class ResultsFile {
public:
  // The mode is the results'; until they are complete nobody else may read them.
  explicit ResultsFile(mode_t mode) : mode_(mode) {}
  ~ResultsFile(); // removes what was not completed
  ResultsFile(const ResultsFile &) = delete;
  ResultsFile &operator=(const ResultsFile &) = delete;

  // Makes the partial file; only onto a regular file or none. Returns false after one line on
  // stderr.
  bool Open(const std::string &path);
  // Writes the complete results, makes them durable and gives them their name. Returns false after one
  // line on stderr.
  bool Complete(const std::string &text);

private:
  bool Complain(const char *operation, const std::string &path, const char *reason);
  bool Write(const std::string &text);

  const mode_t mode_;
  std::string path_, partial_path_;
  int fd_ = -1;
};

#endif
