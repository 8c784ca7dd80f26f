// Who is active at a level (levels.cuh): what an edge says of the vertex that it activates, and a sweep asks of a source.
//
// A bit each, in arrays that are used in turns and cleared. Where nobody waits for a swap (NOBODY_WAITS) many messages of a
// level find that they make a vertex active, and all but one are told no: on a small graph, whose bits are few words, they
// queue up at these. So there each vertex has a word for levels with even numbers and one for odd ones, in which is the
// number of the last level at which it is active. Numbers go on from run to run, and nothing is cleared. On an H200 paths on
// mails took .88 of the time that they take with bits, on votes and a web forum .9, on a web graph, whose words are many to
// look at in a sweep, 1.05.

struct LevelBits {
  unsigned* words;

  __device__ __forceinline__ bool has(unsigned v) const { return bit_of(words, v); }
  __device__ __forceinline__ void set(unsigned v) const { atomicOr(words + (v >> 5), 1u << (v & 31)); }
  __device__ __forceinline__ bool is_first(unsigned v) const {  // who sets it
    const unsigned bit = 1u << (v & 31);
    return !(atomicOr(words + (v >> 5), bit) & bit);
  }
};

struct LevelMarks {
  unsigned *words, number;

  __device__ __forceinline__ bool has(unsigned v) const { return words[v] == number; }
  __device__ __forceinline__ void set(unsigned v) const { words[v] = number; }
  __device__ __forceinline__ bool is_first(unsigned v) const { return atomicExch(words + v, number) != number; }
};
