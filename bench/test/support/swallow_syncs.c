/* swallow_syncs.c: a library to preload: fsync and fdatasync succeed and do nothing. */
int fsync(int fd);
int fdatasync(int fd);

int fsync(int fd) {
  (void)fd;
  return 0;
}

int fdatasync(int fd) {
  (void)fd;
  return 0;
}
