#include "results_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool ResultsFile::Complain(const char *operation, const std::string &path, const char *reason) {
  std::fprintf(stderr, "gatherbench: %s %s: %s\n", operation, path.c_str(), reason);
  return false;
}

bool ResultsFile::Open(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      return Complain("write results to", path, "not a regular file");
  } else if (errno != ENOENT) {
    return Complain("write results to", path, std::strerror(errno));
  }

  const std::string partial = PartialPath(path);
  const int fd = open(partial.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0)
    return Complain("create", partial, std::strerror(errno));
  const char *wrong = nullptr;
  if (fstat(fd, &status) < 0)
    wrong = std::strerror(errno);
  else if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1)
    wrong = "it is not a file of ours";
  else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
    wrong = errno == EWOULDBLOCK ? "another run is writing it" : std::strerror(errno);
  if (wrong) {
    close(fd);
    return Complain("create", partial, wrong);
  }
  path_ = path;
  partial_path_ = partial;
  fd_ = fd;
  return true;
}

bool ResultsFile::Complete() {
  if (fsync(fd_) < 0)
    return Complain("fsync", partial_path_, std::strerror(errno));
  if (rename(partial_path_.c_str(), path_.c_str()) < 0)
    return Complain("rename", partial_path_, std::strerror(errno));
  const int fd = fd_;
  fd_ = -1;
  return close(fd) == 0 || Complain("close", path_, std::strerror(errno));
}

ResultsFile::~ResultsFile() {
  if (fd_ < 0)
    return;
  if (unlink(partial_path_.c_str()) < 0)
    Complain("unlink", partial_path_, std::strerror(errno));
  close(fd_);
}
