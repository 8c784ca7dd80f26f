// What is told to happens_before.cpp: who has met, and every access.
#include <cstddef>
#include <vector>

namespace order {
enum Kind { PLAIN, VOLATILE, ATOMIC };

void begin(int threads);  // of a launch
void met(const std::vector<int>& who);
void fence(int thread);
void touched(int thread, void* at, size_t size, bool writes, Kind kind, bool shared);
void enter(int thread, void* function);
void leave(int thread);
}  // namespace order
