#include "terminate.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include <unistd.h>

#include "directory.h"
#include "printable.h"
#include "process.h"

LeftBehind left_behind;

// Other threads may still run, so that nothing is destroyed but what would stay behind.
[[noreturn]] static void OnTerminate() {
  static std::atomic_flag entered = ATOMIC_FLAG_INIT;
  while (entered.test_and_set())
    pause(); // another thread ends the process
  try {
    if (const std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
    complain("unknown error");
  } catch (const std::bad_alloc &) {
    complain("out of memory");
  } catch (const std::system_error &error) {
    complain("start threads: %s", std::strerror(error.code().value()));
  } catch (const std::exception &error) {
    complain("%s", error.what());
  } catch (...) {
    complain("unknown error");
  }
  if (left_behind.results)
    left_behind.results->~ResultsFile();
  if (left_behind.workspace) {
    pthread_mutex_lock(&left_behind.workspace->mutex);
    (void)directory_close(left_behind.workspace);
  }
  _exit(FAILED);
}

void EndOnExceptions() {
  std::set_terminate(OnTerminate);
}
