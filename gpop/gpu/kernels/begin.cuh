// How fields begin that nobody has looked at (gpop/gpu/beginning.py): one value everywhere, then those of a few vertices.
//
// Steps and their numbers are those of gpop/program/recipes.py. A word is written by one thread, in the order of the steps.
// Bytes: each field is written once, 8 bytes a thread, in the order of memory; its last word may end behind the field.

typedef long long int64;
typedef unsigned long long uint64;

struct Step {
  int64 what, size;  // bytes of an element
  uint64 field;      // address
  int64 vertex;
  uint64 pattern;  // the bytes of the value, again and again
};

struct Steps {
  Step step[MOST_STEPS];
};

extern "C" __global__ void gpop_begin(const Steps steps, const int64 count, const int64 n) {
  const int64 thread = (int64)blockIdx.x * blockDim.x + threadIdx.x, threads = (int64)gridDim.x * blockDim.x;
  for (int64 i = 0; i < count; i++) {
    const Step step = steps.step[i];
    uint64* const words = (uint64*)step.field;
    if (step.what == EVERYWHERE) {
      const int64 last = (n * step.size + 7) / 8;
      for (int64 w = thread; w < last; w += threads) words[w] = step.pattern;
    } else {
      const int64 w = step.vertex * step.size / 8;
      if (w % threads != thread) continue;
      const int64 shift = 8 * (step.vertex * step.size % 8);
      const uint64 mask = (~0ULL >> (64 - 8 * step.size)) << shift;
      words[w] = (words[w] & ~mask) | (step.pattern & mask);
    }
  }
}
