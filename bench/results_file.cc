#include "results_file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "printable.h"
#include "workspace.h"

bool ResultsFile::Complain(const char *operation, const std::string &path, const char *reason) {
  complain("%s %s: %s", operation, path.c_str(), reason);
  return false;
}

// Where PATH.partial is longer than a name may be: a name from the hash of the file's (FNV-1a), always the same.
static std::string ShortPartial(const std::string &path) {
  const size_t slash = path.rfind('/') + 1; // 0 where there is none
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char byte : path.substr(slash))
    hash = (hash ^ static_cast<unsigned char>(byte)) * UINT64_C(0x100000001b3);
  char name[48];
  std::snprintf(name, sizeof name, ".gatherbench-%016llx.partial", static_cast<unsigned long long>(hash));
  return path.substr(0, slash) + name;
}

bool ResultsFile::Open(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      return Complain("write results to", path, "not a regular file");
    // In a directory like /tmp it could not be replaced, which would show when all is measured.
    if (status.st_uid != geteuid() && geteuid() != 0)
      return Complain("write results to", path, "it is another user's file");
  } else if (errno != ENOENT) {
    return Complain("write results to", path, std::strerror(errno));
  }

  // O_NONBLOCK: opening a FIFO would wait for its reader.
  const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  std::string partial = path + ".partial";
  int fd = open(partial.c_str(), flags, 0600);
  if (fd < 0 && errno == ENAMETOOLONG) {
    partial = ShortPartial(path);
    fd = open(partial.c_str(), flags, 0600);
  }
  if (fd < 0)
    return Complain("create", partial, std::strerror(errno));
  const char *wrong = nullptr;
  struct stat named;
  if (fstat(fd, &status) < 0)
    wrong = std::strerror(errno);
  else if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1)
    wrong = "it is not a file of ours";
  else if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) // a file system may have no locks
    wrong = "another run is writing it";
  else if (lstat(partial.c_str(), &named) < 0 || named.st_ino != status.st_ino || named.st_dev != status.st_dev)
    wrong = "another run has completed it"; // since it was opened: these are its results
  if (wrong) {
    close(fd);
    return Complain("create", partial, wrong);
  }
  path_ = path;
  partial_path_ = partial;
  fd_ = fd;
  return ftruncate(fd, 0) == 0 || Complain("truncate", partial, std::strerror(errno));
}

bool ResultsFile::Write(const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t result = write(fd_, text.data() + done, text.size() - done);
    if (result > 0)
      done += static_cast<size_t>(result);
    else if (result == 0 || errno != EINTR)
      return Complain("write results to", path_, std::strerror(result == 0 ? EIO : errno));
  }
  return true;
}

bool ResultsFile::Complete(const std::string &text) {
  if (!Write(text))
    return false;
  if (fchmod(fd_, mode_) < 0)
    complain("fchmod %s: %s; the results are kept all the same", partial_path_.c_str(), std::strerror(errno));
  int synced;
  do
    synced = fsync(fd_);
  while (synced < 0 && errno == EINTR);
  if (synced < 0 && gather_is_loss(errno))
    return Complain("fsync", partial_path_, std::strerror(errno));
  if (synced < 0)
    complain("fsync %s: %s; the results are kept all the same", partial_path_.c_str(), std::strerror(errno));
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
