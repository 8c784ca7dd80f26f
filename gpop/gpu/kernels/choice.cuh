// Which partitions of an iteration send together, by eq. (1), and whether vertices ask instead: what plan() compares.
//
// A thread has partitions of its own; what they will move is added up over the block (Sums).

// Bytes of streamed arrays: those that come over the link, and all that are read (gpop/model/link_bytes.py).
struct Linked {
  double fetched, wanted;
};
#if STREAMED  // `p`: a partition, or one of the two shares behind those
#define ALL_EDGES (graph.k)
#define ALL_IN_EDGES (graph.k + 1)
#define LINKED(LINK, part, p) \
  Linked{LINK(part, SIZES, (model::Away{graph.away_edges[p], graph.away_bins[p]})), LINK(part, SIZES, (model::Away{1.0, graph.all_bins[p]}))}
#else
#define LINKED(LINK, part, p) Linked{0, 0}
#endif

// Whether Dense moves bytes for partitions that do not send with it, which speaks for all doing the same.
#define ALIKE (HAS_SPARSE && HAS_DENSE && DENSE_IDLES)

struct Sums {  // over partitions
  int64 sparse, dense, messages;
  double bytes, cost;  // that they move; the same, and what comes over the link, at the bandwidth of Sparse
  double pushed, binned, sent;  // if all did the same: cost of Sparse; bytes and messages of Dense
  double idle, inactive;  // bytes that Dense moves for those that send otherwise, or not; of the latter alone
  Linked link;

  // All others send; `dense`: with their partitions.
  __device__ void make_alike(bool with_partitions, double ratio) {
    (with_partitions ? dense : sparse) += with_partitions ? sparse : dense;
    (with_partitions ? sparse : dense) = 0;
    if (!with_partitions) return;
    messages = (int64)sent;
    bytes = binned;
    cost = binned / ratio;
    idle = inactive;
  }

  // Those of a warp to those of the block.
  __device__ __forceinline__ void add_to(Sums& all) {
    sparse = warp_sum(sparse);
    dense = warp_sum(dense);
    messages = warp_sum(messages);
    bytes = warp_sum(bytes);
    if (STREAMED) link = {warp_sum(link.fetched), warp_sum(link.wanted)};
    cost = warp_sum(cost);
    if (ALIKE) {
      pushed = warp_sum(pushed);
      binned = warp_sum(binned);
      sent = warp_sum(sent);
      idle = warp_sum(idle);
      inactive = warp_sum(inactive);
    }
    if (lane_id() == 0 && sparse + dense) {
      atomicAdd((uint64*)&all.sparse, (uint64)sparse);
      atomicAdd((uint64*)&all.dense, (uint64)dense);
      atomicAdd((uint64*)&all.messages, (uint64)messages);
      atomicAdd(&all.bytes, bytes);
      if (STREAMED) {
        atomicAdd(&all.link.fetched, link.fetched);
        atomicAdd(&all.link.wanted, link.wanted);
      }
      atomicAdd(&all.cost, cost);
      if (ALIKE) {
        atomicAdd(&all.pushed, pushed);
        atomicAdd(&all.binned, binned);
        atomicAdd(&all.sent, sent);
      }
    }
    if (ALIKE && lane_id() == 0 && idle > 0) {
      atomicAdd(&all.idle, idle);
      atomicAdd(&all.inactive, inactive);
    }
  }
};

// Mode of partition p, by eq. (1) unless `way` has it; adds what it will do. Leaves the counts empty.
__device__ void choose_mode(int p, int way, double ratio, double link_cost, const Graph& graph, const Space& space,
                            Sums& sums) {
  const int64 first = (int64)p << BITS, last = min(graph.n, first + ((int64)1 << BITS));
  model::Part part;
  part.vertices = (double)(last - first);
  part.edges = (double)(graph.indptr[last] - graph.indptr[first]);
  part.active_vertices = ALL_ACTIVE ? part.vertices : (double)space.active_vertices[p];
  part.active_edges = ALL_ACTIVE ? part.edges : (double)space.active_edges[p];
  part.messages = HAS_DENSE ? (double)graph.messages[p] : 0;
  part.segments = HAS_DENSE ? (double)graph.segments[p] : 0;
  space.active_vertices[p] = 0;
  space.active_edges[p] = 0;
  const double idle = DENSE_IDLE(part, SIZES);
  if (part.active_vertices == 0) {
    space.mode[p] = MODE_IDLE;
    sums.idle += idle;
    sums.inactive += idle;
    return;
  }
  const double sparse_bytes = SPARSE_BYTES(part, SIZES), dense_bytes = DENSE_BYTES(part, SIZES);
  const Linked sparse_link = LINKED(SPARSE_LINK, part, p), dense_link = LINKED(DENSE_LINK, part, p);
  const double sparse_cost = sparse_bytes + link_cost * sparse_link.fetched;
  const double dense_cost = dense_bytes / ratio + link_cost * dense_link.fetched;
  bool dense = !HAS_SPARSE;
  if (HAS_SPARSE && HAS_DENSE)
    dense = by_model(way) ? model::prefers_bins(part.edges, sparse_cost, dense_bytes + ratio * link_cost * dense_link.fetched, ratio)
                          : way == MODE_PC;
  space.mode[p] = dense ? MODE_PC : SPARSE_MODE;
  sums.dense += dense;
  sums.sparse += !dense;
  sums.messages += (int64)(dense ? part.messages : part.active_edges);
  sums.bytes += dense ? dense_bytes : sparse_bytes;
  sums.link.fetched += dense ? dense_link.fetched : sparse_link.fetched;
  sums.link.wanted += dense ? dense_link.wanted : sparse_link.wanted;
  sums.cost += dense ? dense_cost : sparse_cost;
  sums.pushed += sparse_cost;
  sums.binned += dense_bytes;
  sums.sent += part.messages;
  sums.idle += dense ? 0 : idle;
}

// Whether vertices that ask are predicted to take less than others that send at this cost; `asked`: in how many bytes.
// `over_link`: what comes over the link, in bytes of vertices that ask.
__device__ bool prefers_asking(const model::Part& whole, double cost, double ratio, double& asked, double over_link = 0) {
  if (!HAS_PULLING || (HAS_SPARSE && !model::may_pull(whole.active_edges, whole.needy_edges))) return false;
  asked = PULLING_BYTES(whole, LIVE ? LIVE_SIZES : SIZES);
  const double streamed = model::wanting_bytes(whole, LIVE ? LIVE_SIZES : SIZES);
  return model::prefers_asking(cost, streamed, asked, over_link, ratio);
}
