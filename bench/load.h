// load.h: what else the machine did while rows were measured.
#ifndef LOAD_H
#define LOAD_H

#include <string>

#include "gather.h"

// Measures from its construction until End.
class Load {
public:
  Load();

  // The first call ends the measurement and puts the others' share of all processors' time into the results' context.
  // Returns a few words for the user where the share is so large that the figures suffer, which then stands in the
  // context too; else "".
  const std::string &End();

private:
  bool running_;
  gather_processor_times begin_;
  std::string warning_;
};

#endif
