// The messages of a vertex that one thread has met, where the program declares `combine`.

struct Combined {
  Total value;
  bool some;

  __device__ __forceinline__ void add(Total other, bool sent) {
#if COMBINE
    if (sent) value = some ? merge(value, other) : other;
    some |= sent;
#endif
  }
};
