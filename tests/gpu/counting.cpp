// Counts what kernels read and write of the arrays that are watched, by the function that does it.
//
// A compiler's race detector (-fsanitize=thread) calls a function before every access to memory and around every
// function. Here those functions are ours: nothing of the kernels is changed, and vector loads count as what they are.
#include <cxxabi.h>
#include <dlfcn.h>

#include <map>
#include <string>
#include <vector>

namespace warp {
extern int now;  // the lane that runs (emulator.hpp)
}

namespace {
struct Watched {
  char* begin;
  size_t size;
};
struct Count {
  long long read = 0, written = 0, distinct = 0;
  std::vector<bool> seen;
};
std::vector<Watched> arrays;
std::vector<std::string> phases;
std::map<std::pair<int, int>, Count> counts;  // by phase and array
std::map<void*, int> phase_of;                // by an address in a function; -1: that of its caller
std::vector<int> stack[32];

int find_phase(void* address) {
  const auto known = phase_of.find(address);
  if (known != phase_of.end()) return known->second;
  Dl_info info;
  int found = -1;
  if (dladdr(address, &info) && info.dli_sname) {
    int status;
    char* text = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    std::string name = text ? text : info.dli_sname;
    free(text);
    name = name.substr(0, name.find('('));
    if (name == "warp::lane") found = -2;
    for (size_t i = 0; i < phases.size(); ++i)
      if (name == phases[i]) found = (int)i;
  }
  return phase_of[address] = found;
}

void count(void* address, size_t size, bool writes) {
  if (stack[warp::now].empty() || stack[warp::now].back() < 0) return;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const char *first = (char*)address, *begin = arrays[i].begin, *end = begin + arrays[i].size;
    if (first + size <= begin || first >= end) continue;
    Count& found = counts[{stack[warp::now].back(), (int)i}];
    if (found.seen.empty()) found.seen.resize(arrays[i].size);
    for (const char* byte = std::max(first, begin); byte < std::min(first + size, end); ++byte) {
      ++(writes ? found.written : found.read);
      if (!found.seen[byte - begin]) ++found.distinct;
      found.seen[byte - begin] = true;
    }
  }
}
}  // namespace

extern "C" {
void counting_phase(const char* name) { phases.push_back(name); }
void counting_array(void* begin, size_t size) { arrays.push_back({(char*)begin, size}); }
void counting_clear() {
  arrays.clear();
  phases.clear();
  counts.clear();
  phase_of.clear();
}
void counting_result(int phase, int array, long long* result) {
  const Count& found = counts[{phase, array}];
  result[0] = found.read, result[1] = found.written, result[2] = found.distinct;
}

void __tsan_init() {}
void __tsan_func_entry(void*) {
  std::vector<int>& own = stack[warp::now];
  const int phase = find_phase(__builtin_return_address(0));
  if (phase == -2) own.clear();
  own.push_back(phase >= 0 ? phase : own.empty() ? -1 : own.back());
}
void __tsan_func_exit() {
  if (!stack[warp::now].empty()) stack[warp::now].pop_back();
}
#define ACCESS(kind, bytes, writes)                                           \
  void __tsan_##kind##bytes(void* at) { count(at, bytes, writes); }           \
  void __tsan_unaligned_##kind##bytes(void* at) { count(at, bytes, writes); } \
  void __tsan_volatile_##kind##bytes(void* at) { count(at, bytes, writes); }
#define BOTH(bytes) ACCESS(read, bytes, false) ACCESS(write, bytes, true)
BOTH(1) BOTH(2) BOTH(4) BOTH(8) BOTH(16)
void __tsan_read_range(void* at, size_t bytes) { count(at, bytes, false); }
void __tsan_write_range(void* at, size_t bytes) { count(at, bytes, true); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
