// Messages to a vertex that a whole warp owns, one after the other in registers: its queue, where it is a hub
// and they wait (swap.cuh), in no order; or its in-edges (owner.cuh).
//
// gatherFunc runs on a copy of the written fields (Owned), which is put back at the end; all lanes do the same.

const int AHEAD = 8;  // messages of a hub that each lane fetches before any is taken
const int SOME = 8;   // of which so many are shuffled before any is taken

// The messages of the lanes in `who`, in their order, to the vertex that all lanes own together. A hub waits
// for this chain alone: SOME shuffles go ahead of it, and where every lane has a message nothing is asked.
__device__ __forceinline__ void take_in_order(Owned& own, unsigned v, Gathered value, unsigned who, bool& wants,
                                              Inbox& inbox) {
  const bool everyone = !ENDS_EARLY && who == ALL_LANES;
#pragma unroll 1
  for (int first = 0; first < 32; first += SOME) {
    Gathered x[SOME];
#pragma unroll
    for (int j = 0; j < SOME; ++j) x[j] = __shfl_sync(ALL_LANES, value, first + j);
    if (everyone) {
#pragma unroll
      for (int j = 0; j < SOME; ++j) inbox.take(own, x[j], v);
      continue;
    }
#pragma unroll
    for (int j = 0; j < SOME; ++j) {
      if (!(who >> (first + j) & 1) || !wants) continue;
      inbox.take(own, x[j], v);
      if (ENDS_EARLY) wants = needsFunc(own, v);
    }
  }
}

// AHEAD messages of every lane; `senders` says which lanes have one.
__device__ __forceinline__ void take_fetched(Owned& own, unsigned v, Gathered* value, unsigned* senders, bool& wants,
                                             Inbox& inbox) {
#pragma unroll 1
  for (int i = 0; i < AHEAD; ++i) {
    if (senders[0]) take_in_order(own, v, value[0], senders[0], wants, inbox);
#pragma unroll
    for (int j = 1; j < AHEAD; ++j) {  // registers cannot be indexed: the next one moves to the front
      value[j - 1] = value[j];
      senders[j - 1] = senders[j];
    }
  }
}

__device__ __forceinline__ void end_hub(Owned& own, unsigned v, Inbox& inbox, State& state, const Space& space,
                                        Control* control) {
  const bool activated = inbox.close(own, v);
  if (lane_id() != 0) return;
  put_back(own, state, v);
  if (activated && !ALL_ACTIVE) activate(v, space, control);
}

// The queues of hubs at which messages wait; the caller sees to it that all have arrived.
__device__ void gather_waiting(Team& team, State& state, const Graph& graph, const Space& space, Control* control) {
  for (unsigned i = team.warp(); i < control->head.hubs_called; i += team.warps()) {
    const unsigned hub = space.called[i], v = graph.hub_vertex[hub], count = space.waiting_count[hub];
    const Gathered* waiting = space.waiting + graph.hub_first[hub];
    Owned own(state, v);
    bool wants = true;
    Inbox inbox;
    for (unsigned at = 0; at < count; at += 32 * AHEAD) {
      unsigned senders[AHEAD];
      Gathered value[AHEAD];
#pragma unroll
      for (int j = 0; j < AHEAD; ++j) {
        const unsigned mine = at + 32 * j + lane_id();
        value[j] = mine < count ? waiting[mine] : Gathered(0);
        senders[j] = __ballot_sync(ALL_LANES, mine < count);
      }
      take_fetched(own, v, value, senders, wants, inbox);
    }
    if (lane_id() == 0) space.waiting_count[hub] = 0;
    end_hub(own, v, inbox, state, space, control);
  }
}
