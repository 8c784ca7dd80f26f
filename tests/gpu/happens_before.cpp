// Which accesses to memory nothing keeps in order: two threads, one of them writes, and no barrier, and no atomic or
// volatile word with a fence on either side, says who comes first.
//
// Every thread has a clock of what it knows of all others. A barrier has all that meet know what all of them knew. An
// atomic or volatile access takes what its word was given, which counts from the next fence on, and gives what the last
// fence has found (the fences of C++, as CUDA has them). Of every four bytes it is remembered who wrote last and who has
// read since, which of the bytes, and in which functions. Accesses of which both are atomic or volatile are in order.
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "happens_before.hpp"

namespace {
typedef std::vector<unsigned> Clock;
struct Access {
  int thread;
  unsigned time;
  unsigned char bytes;  // a bit for each of the four
  bool plain;
  void* where[2];  // the function, and who called it
};
struct Word {
  std::vector<Access> writes, reads;  // since they were in order
};
std::vector<Clock> knows, given, taken;  // now, at the last fence, and what counts from the next one on
std::vector<std::vector<void*>> calls;   // functions in which a thread is
std::unordered_map<uintptr_t, Word> words;
std::unordered_map<uintptr_t, Clock> told;
struct Race {  // of two accesses that are not in order
  Access before, now;
  bool wrote, writes, shared;

  std::array<long long, 8> key() const {  // those of the same functions are one
    const long long kinds = before.plain | now.plain << 1 | wrote << 2 | writes << 3 | shared << 4;
    return {(long long)before.where[0], (long long)before.where[1], (long long)now.where[0], (long long)now.where[1], kinds};
  }
};
std::map<std::array<long long, 8>, std::pair<Race, long>> found;

void join(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

std::string name_of(void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_sname) return "?";
  int status;
  char* text = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = text ? text : info.dli_sname;
  free(text);
  return name.substr(0, name.find('('));
}

std::string said(const Access& access, bool writes) {
  return std::string(access.plain ? "" : "atomic ") + (writes ? "write in " : "read in ") + name_of(access.where[0]) + " of " +
         name_of(access.where[1]);
}

void compare(std::vector<Access>& earlier, bool wrote, const Access& now, bool writes, bool shared) {
  for (const Access& before : earlier) {
    if (!(before.bytes & now.bytes) || (!before.plain && !now.plain)) continue;
    if (before.thread == now.thread || before.time <= knows[now.thread][before.thread]) continue;
    const Race race = {before, now, wrote, writes, shared};
    ++found.emplace(race.key(), std::make_pair(race, 0L)).first->second.second;
  }
}

void note(std::vector<Access>& accesses, const Access& now) {  // those that are in order are forgotten
  size_t kept = 0;
  for (Access& before : accesses)
    if ((before.bytes & ~now.bytes) || before.time > knows[now.thread][before.thread] || (before.plain && !now.plain))
      accesses[kept++] = before;
  accesses.resize(kept);
  for (const Access& before : accesses)
    if (before.thread == now.thread && before.time == now.time && before.bytes == now.bytes && before.plain == now.plain) return;
  accesses.push_back(now);
}
}  // namespace

namespace order {
void begin(int threads) {
  knows.assign(threads, Clock(threads, 0));
  for (int t = 0; t < threads; ++t) knows[t][t] = 1;
  given = taken = std::vector<Clock>(threads, Clock(threads, 0));
  calls.assign(threads, {});
  words.clear();
  told.clear();
}

void met(const std::vector<int>& who) {
  Clock all(knows.size(), 0);
  for (int t : who) join(all, knows[t]);
  for (int t : who) knows[t] = all, ++knows[t][t];
}

void fence(int thread) {
  join(knows[thread], taken[thread]);
  given[thread] = knows[thread];
  ++knows[thread][thread];
}

void touched(int thread, void* at, size_t size, bool writes, Kind kind, bool shared) {
  const auto& stack = calls[thread];
  const size_t depth = stack.size();
  Access now = {thread, knows[thread][thread], 0, kind == PLAIN, {depth ? stack[depth - 1] : nullptr, depth > 1 ? stack[depth - 2] : nullptr}};
  if (kind != PLAIN) {
    Clock& word = told.emplace((uintptr_t)at, Clock(knows.size(), 0)).first->second;
    if (!writes || kind == ATOMIC) join(taken[thread], word);
    if (writes && kind == VOLATILE) word = given[thread];
    if (kind == ATOMIC) join(word, given[thread]);
  }
  const uintptr_t first = (uintptr_t)at, end = first + size;
  for (uintptr_t word = first / 4; word * 4 < end; ++word) {
    now.bytes = 0;
    for (int byte = 0; byte < 4; ++byte)
      if (word * 4 + byte >= first && word * 4 + byte < end) now.bytes |= 1 << byte;
    Word& known = words[word];
    compare(known.writes, true, now, writes, shared);
    if (writes) compare(known.reads, false, now, true, shared);
    note(writes ? known.writes : known.reads, now);
  }
}

void enter(int thread, void* function) { calls[thread].push_back(function); }
void leave(int thread) {
  if (!calls[thread].empty()) calls[thread].pop_back();
}
}  // namespace order

extern "C" {
// What was found since it was asked last, a line each; how many characters that is.
int races(char* text, int room) {
  std::string all;
  for (const auto& each : found) {
    const Race& race = each.second.first;
    all += std::to_string(each.second.second) + (race.shared ? " x shared: " : " x global: ") + said(race.before, race.wrote) +
           "; " + said(race.now, race.writes) + "\n";
  }
  found.clear();
  std::strncpy(text, all.c_str(), room);
  return (int)all.size();
}
}
