// Where the arrays lie that grow with the edges: on the device, or in part in the host's memory (STREAMED).
//
// A streamed array is a table of pages of PAGE_BYTES each. Hot pages are copies on the device; the others are
// read in place, in pinned memory of the host, over the link: whoever walks edges neither knows nor waits for a copy, and of a
// page only the sectors travel that are asked for. Pages begin at multiples of 128 bytes, so that a warp's lines do too.
// Bytes: one entry of the table, which the caches hold, per access. Paper: Min et al., "EMOGI: efficient memory-access
// for out-of-memory graph-traversal in GPUs" (VLDB 2020), for reading lines in place.

#if STREAMED
template <class T>
struct Paged {
  static const int PAGE = PAGE_BYTES / sizeof(T);  // elements; a power of two
  const T* const* page;
  __device__ __forceinline__ const T& operator[](unsigned long long at) const {
    return page[at / PAGE][at % PAGE];
  }
};
template <class T> using Stored = Paged<T>;

// Of elements that lie together: none of them may be on another page than the first.
template <class T> __device__ __forceinline__ const T* address(const Paged<T>& array, long long at) { return &array[at]; }
#else
template <class T> using Stored = const T*;
template <class T> __device__ __forceinline__ const T* address(const T* array, long long at) { return array + at; }
#endif
