// Prints the C++ text of the ready-made loops: print FILE PART PARTS.
#include <cstdlib>
#include <fstream>

#include "codegen/blocks/ready_loops.h"

int main(int count, char** words) {
  if (count != 4) return 2;
  std::ofstream file(words[1]);
  file << heddle::codegen::print_ready_loops(std::atoi(words[2]), std::atoi(words[3]));
  return file.flush() ? 0 : 1;
}
