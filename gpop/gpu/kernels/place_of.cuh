// Where the rank-th set bit of a word is.
__device__ __forceinline__ unsigned place_of(unsigned word, int rank) {
  unsigned at = 0;
  for (int half = 16; half; half >>= 1) {
    const int below = __popc(word >> at & ((1u << half) - 1));
    if (rank < below) continue;
    rank -= below;
    at += half;
  }
  return at;
}
