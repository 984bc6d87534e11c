// results_file.h: a results file is either the old one or the complete new one.
#ifndef RESULTS_FILE_H
#define RESULTS_FILE_H

#include <string>

// Results are written into PATH.partial beside the file, which takes the file's name when they are
// complete. What a killed run left under that name is overwritten; a lock tells it from one that is
// still being written.
class ResultsFile {
public:
  ResultsFile() = default;
  ~ResultsFile(); // removes what was not completed
  ResultsFile(const ResultsFile &) = delete;
  ResultsFile &operator=(const ResultsFile &) = delete;

  // Makes the partial file; only onto a regular file or none. Returns false after one line on
  // stderr.
  bool Open(const std::string &path);
  // Makes the complete results durable and gives them their name. Returns false after one line on
  // stderr.
  bool Complete();
  static std::string PartialPath(const std::string &path) {
    return path + ".partial";
  }

private:
  bool Complain(const char *operation, const std::string &path, const char *reason);
  std::string path_, partial_path_;
  int fd_ = -1;
};

#endif
