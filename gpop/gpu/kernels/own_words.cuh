// Words of 32 vertices of which some may be asked, or become active: all, but on a rank that is told who is active
// elsewhere (peers.cuh), whose local ids are global ones, only its own.
struct Words {
  int64 first = 0, last;

  __device__ __forceinline__ Words(const State& state, const Graph& graph) : last((graph.n + 31) / 32) {
#if TOLD
    first = state.gpop_first / 32;
    last = ((int64)state.gpop_last + 31) / 32;
#endif
  }
};
