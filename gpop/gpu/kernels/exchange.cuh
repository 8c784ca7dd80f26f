// What goes between ranks before an iteration: messages of active vertices to the ranks that mirror them.
//
// As gpop/cpu/exchange.py, which says what a mirror is; forms and sizes are those of gpop/gpu/exchange_form.py.
// A warp takes ENTRIES mirrored vertices at once: 32 words of bits, a lane each, and one atomic access for all.
// Every mirrored vertex is looked at however few are active: 4 bytes and a bit each, which takes less time than
// the launch where there are some hundred thousand. What arrives joins the frontier as a vertex does that was
// loaded (load.cuh). What it waits for is memory: it reads AT_ONCE groups of 32 before it writes one of them. Bytes of
// n mirrors: 4 n + n / 8 to choose; of those that are sent 4 + 2 * sizeof(Message) here, 8 + 2 * sizeof(Message) and an
// offset there.

enum { FORM_NOTHING, FORM_ALL, FORM_BITS, FORM_PAIRS };
const int ENTRIES = 1024, AT_ONCE = 4;

// Bits of the active ones among the own vertices that each rank mirrors, and how many they are; behind that the
// active vertices here, and NOBODY. `first`: where those of a rank begin; their bits have words of their own. `next` is
// cleared, for the next time.
__device__ void choose(Team& team, const Space& space, Control* control, const unsigned* sends, const int64* first,
                       int64 ranks, unsigned* bits, int64* chosen, int64* next, int64* cursors) {
  const bool leader = team.leader();
  if (leader) chosen[ranks + 1] = NOBODY;
  const Control::Head& head = control->head;
  if (leader) chosen[ranks] = head.fresh ? head.next_frontier : head.finished ? 0 : head.frontier;
  int64 words = 0;
  for (int64 r = 0; r < ranks; ++r) {
    const int64 size = first[r + 1] - first[r];
    if (leader) cursors[r] = next[r] = 0;
    if (ALL_ACTIVE && leader) chosen[r] = size;
    const int64 step = (int64)ENTRIES * team.warps();
    for (int64 begin = (int64)ENTRIES * team.warp(); !ALL_ACTIVE && begin < size; begin += step) {
      unsigned own = 0;
      for (int j = 0; j < 32; j += AT_ONCE) {
        bool active[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
          const int64 i = begin + 32 * (j + u) + lane_id();
          active[u] = i < size && bit_of(space.frontier_bits, sends[first[r] + i]);
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
          const unsigned word = __ballot_sync(ALL_LANES, active[u]);
          if (lane_id() == j + u) own = word;
        }
      }
      if (begin + 32 * lane_id() < size) bits[words + begin / 32 + lane_id()] = own;
      const int count = warp_sum(__popc(own));
      if (lane_id() == 0 && count) atomicAdd((uint64*)chosen + r, (uint64)count);
    }
    words += (size + 31) / 32;
  }
}

// What goes to one rank, which mirrors `sends`; index and values lie behind each other in its buffer.
__device__ void pack(Team& team, State& state, const unsigned* sends, int64 size, int64 form, const unsigned* bits,
                     unsigned* index, Message* values, int64* cursor) {
  for (int64 begin = (int64)ENTRIES * team.warp(); begin < size; begin += (int64)ENTRIES * team.warps()) {
    const bool some = form != FORM_ALL && begin + 32 * lane_id() < size;
    const unsigned own = some ? bits[begin / 32 + lane_id()] : 0;
    if (form == FORM_PAIRS) {
      const int count = __popc(own), upto = warp_inclusive_sum(count);
      int64 at = 0;
      if (lane_id() == 31 && upto) at = (int64)atomicAdd((uint64*)cursor, (uint64)upto);
      at = __shfl_sync(ALL_LANES, at, 31) + upto - count;
      for (unsigned left = own; left; left &= left - 1, ++at) {
        const int64 i = begin + 32 * lane_id() + __ffs(left) - 1;
        index[at] = (unsigned)i;
        values[at] = scatterFunc(state, sends[i]);
      }
      __syncwarp();
      continue;
    }
    if (some) index[begin / 32 + lane_id()] = own;
    for (int j = 0; j < 32; j += AT_ONCE) {
      bool active[AT_ONCE];
      Message value[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; ++u) {
        const int64 i = begin + 32 * (j + u) + lane_id();
        const unsigned word = form == FORM_ALL ? ALL_LANES : __shfl_sync(ALL_LANES, own, j + u);
        active[u] = i < size && (word >> lane_id() & 1);
        if (active[u]) value[u] = scatterFunc(state, sends[i]);
      }
#pragma unroll
      for (int u = 0; u < AT_ONCE; ++u)
        if (active[u]) values[begin + 32 * (j + u) + lane_id()] = value[u];
    }
  }
}

// Counts of mirrors that lie in one partition, until the next one comes.
struct PartitionCount {
  unsigned p;
  int64 vertices, edges;
  const Space& space;

  __device__ void flush() {
    if (__any_sync(ALL_LANES, vertices != 0)) count_partition(p, vertices, edges, space);
    vertices = edges = 0;
  }

  __device__ void add(unsigned v, bool kept, int64 degree) {  // all lanes; at least one has kept its vertex
    const int from = __ffs(__ballot_sync(ALL_LANES, kept)) - 1;
    const unsigned q = partition_of(__shfl_sync(ALL_LANES, v, from));
    if (__any_sync(ALL_LANES, kept && partition_of(v) != q)) {
      if (!kept) return;
      atomicAdd(space.active_vertices + partition_of(v), 1u);
      atomicAdd(space.active_edges + partition_of(v), (uint64)degree);
      return;
    }
    if (q != p) flush();
    p = q;
    vertices += kept;
    edges += degree;
  }
};

// What has come from one rank: messages of `mirrors`, which join the frontier. `size`: mirrors, or pairs.
__device__ void unpack(Team& team, const Graph& graph, const Space& space, Control* control, const unsigned* mirrors,
                       int64 size, int64 form, const unsigned* index, const Message* values, Message* message) {
  const bool listed = !ALL_ACTIVE && control->head.list_valid;
  int64 vertices = 0, edges = 0;
  for (int64 begin = (int64)ENTRIES * team.warp(); begin < size; begin += (int64)ENTRIES * team.warps()) {
    PartitionCount count = {0, 0, 0, space};
    for (int64 at = begin + lane_id(); at - lane_id() < min(size, begin + ENTRIES); at += 32 * AT_ONCE) {
      bool kept[AT_ONCE];
      unsigned v[AT_ONCE];
      int64 degree[AT_ONCE];
      Message value[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; ++u) {
        const int64 i = at + 32 * u;
        kept[u] = i < size && (form != FORM_BITS || (index[i / 32] >> lane_id() & 1));
        v[u] = kept[u] ? mirrors[form == FORM_PAIRS ? index[i] : i] : 0;
        if (kept[u]) value[u] = values[i];
      }
#pragma unroll
      for (int u = 0; u < AT_ONCE; ++u) degree[u] = kept[u] && !ALL_ACTIVE ? degree_of(graph, v[u]) : 0;
#pragma unroll
      for (int u = 0; u < AT_ONCE; ++u) {
        if (kept[u]) message[v[u]] = value[u];
        if (ALL_ACTIVE || !__any_sync(ALL_LANES, kept[u])) continue;
        if (kept[u]) atomicOr(space.frontier_bits + (v[u] >> 5), 1u << (v[u] & 31));
        if (listed) append_together(v[u], degree[u], kept[u], space, control);
        __syncwarp();
        count.add(v[u], kept[u], degree[u]);
        __syncwarp();
        vertices += kept[u];
        edges += degree[u];
      }
    }
    count.flush();
  }
  if (!ALL_ACTIVE) add_found(vertices, edges, control);
}
