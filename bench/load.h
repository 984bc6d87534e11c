// load.h: what else the machine did while rows were measured.
#ifndef LOAD_H
#define LOAD_H

#include "environment.h"

// Measures from its construction until End.
class Load {
public:
  Load();

  // Ends the measurement and puts the others' share of all processors' time into the results' context; where the
  // figures suffer from it, it spoils them. A second call does nothing.
  void End();

private:
  bool running_;
  gather_processor_times begin_;
};

#endif
