/* replay.c: gives every file of a folder to the fuzzer's entry point, for compilers without libFuzzer. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { BYTES_MAX = 1 << 20 };

static int replay(const char *folder, const char *name) {
  static uint8_t data[BYTES_MAX];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
  }
  size_t size = fread(data, 1, sizeof data, file);
  (void)fclose(file);            /* nothing was written */
  fprintf(stderr, "%s\n", path); /* the last one is what a crash came from */
  return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv) {
  DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
  if (folder == NULL) {
    fprintf(stderr, "usage: replay FOLDER\n");
    return 2;
  }
  int error = 0, files = 0;
  for (struct dirent *entry; !error && (entry = readdir(folder)) != NULL;)
    if (entry->d_name[0] != '.') {
      error = replay(argv[1], entry->d_name);
      files++;
    }
  closedir(folder);
  printf("%d inputs\n", files);
  return error || files == 0;
}
