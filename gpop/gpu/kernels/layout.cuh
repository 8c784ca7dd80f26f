// What kernels see: the graph, THE layout (gpop/layout/bins.py), the workspace and the control block.
//
// Before this text come the types of the program at hand, written by gpop/gpu/source.py:
//   Message   what scatterFunc returns           Gathered  what gatherFunc takes (applyWeight's result)
//   Weight    weights of the graph               BinWeight the same weights as they lie in the bins
//   EdgeWeight the same as they lie in CSR: Weight, and BinWeight where edges are streamed
//   Folded    what messages are combined in      Total     the same for all messages of a vertex
//   BITS      local bits of a vertex id (at most 15)
// the traits ALL_ACTIVE, WEIGHTED, MASK, COMBINE, HAS_INIT, PUSH, TRACK, and from the records of Python
//   MODE_SC ..., MODE_IDLE   of a source partition in this iteration; AUTO in place of one that is asked for
//   FRONTIER_AT ...          where things lie in a row of the trace (gpop/plan/trace.py)
//   namespace model          the bytes of the strategies, and who compares them (gpop/model)

#include "clock.cuh"

typedef unsigned short Id;  // local id of a destination; the top bit marks the first id of a message
typedef long long int64;
typedef unsigned long long uint64;

enum { MASK_NONE, MASK_VALUE, MASK_SENT };                    // as gpop/plan/hidden.py
enum { NO_COMBINE, MINIMUM, MAXIMUM, ADD, OR };               // Program.combine
enum { SWAP, FOLD, OWNER };                                   // how a pushed message reaches its vertex
enum { TOGETHER, ALONE, OPEN, STOP };
enum { BY_CASE, EACH, BULK, WARP, BLOCK };  // AGGREGATE: who counts, and lists, the next frontier together

struct Segment {  // consecutive ids of one bin, from the start of a message to the end of one
  int64 first, slot;  // position of its first id; slot of its first message, minus one
  int count, runs;    // ids, and messages that begin here
  int source, pad;    // source partition
};

struct Piece {  // what one block claims: segments of one column, or slots of one row
  int64 first, last;
  int partition, pad;
};

struct Graph {
  int64 n, m;
  int k, column_pieces, row_pieces;
  unsigned hubs, queues;   // vertices in hub_vertex, and how many of them have queues
  unsigned longest;        // out-edges of the vertex that has most
  int64 ell_width, ell_pitch, coo_entries;  // of HYB: columns of ELL, words from one to the next; entries of COO
  int64 longs;             // vertices in long_vertex
  const int64* indptr;
  Stored<unsigned> indices;
  Stored<EdgeWeight> weights;
  const unsigned* edge_source;  // of every edge, in the order of `indices`
  const unsigned* edge_target;  // of every in-edge, in the order of `in_indices`
  const struct Edge* edge;          // edges as structs (edges.cuh), by source
  const struct Edge* reverse_edge;  // the same by destination
  const int64* messages;  // per source partition
  const int* segments;    // the same
  Stored<unsigned short> sources;
  Stored<Id> ids;
  Stored<BinWeight> id_weights;
  const Segment* segment;
  const Piece* column_piece;
  const Piece* row_piece;
  const unsigned* ell_source;  // in-edges as HYB (gpop/layout/hyb.py)
  const Weight* ell_weight;
  const unsigned* coo_row;
  const unsigned* coo_source;
  const Weight* coo_weight;
  const int64* coo_first;
  const unsigned* has_in;  // bit per vertex: it has in-edges (ALL_ACTIVE, or vertices that ask and may stop early)
  const int64* in_indptr;  // in-edges, where some strategy walks them
  Stored<unsigned> in_indices;
  Stored<EdgeWeight> in_weights;
  const unsigned* hub_vertex;  // vertices with more than HUB in-edges, those with most first
  const unsigned* long_vertex;  // vertices with more than LONG_ROW in-edges, likewise: the hubs are its first
  const int64* hub_first;      // where the queue of each begins (swap.cuh)
  const unsigned* hub_of;      // place of every vertex in hub_vertex; NO_HUB elsewhere
  const double* away_edges;  // STREAMED: of the edges of a source partition, the share that lies with the host
  const double* away_bins;   // the bytes there of ids, weights and sources with which it sends all its messages
  const double* all_bins;    // the same wherever they lie
};

struct Space {
  Message* values;          // one per message slot (partition-centric, no combine)
  Folded* partials;         // one per run (partition-centric, combine)
  unsigned char* sent;      // beside it: whether its source was active (MASK_SENT)
  Message* vertex_value;    // what an active vertex sends (source-centric)
  Total* folded;            // combined messages per vertex, identity when none
  unsigned* arrived;        // bit per vertex: a message was folded (ADD)
  unsigned* frontier_bits;  // bit per vertex: active
  unsigned* active_bits;    // activated for the next iteration by initFunc or gatherFunc
  unsigned* level_bits;     // in turns with both (SWEPT, levels.cuh)
  unsigned* level_marks;    // in their place, and how many levels there were (level_active.cuh)
  unsigned* listed_bits;    // in the list of candidates
  unsigned* touched_bits;   // ever activated (TRACK)
  unsigned* list;           // the active vertices, in no order; see Control.list_valid
  unsigned* candidates;     // vertices that filterFunc will be asked about
  unsigned* waiting_bits;   // active, but not yet of the bucket that goes on (buckets.cuh)
  uint4* entries;           // of this level and of the next, in turns, and what lies beside these (levels.cuh)
  uint2* heavy;             // (vertex, piece) of active vertices with more than HEAVY edges
  unsigned char* mode;      // per partition
  unsigned* active_vertices;
  uint64* active_edges;
  Gathered* waiting;        // messages that wait at hubs
  unsigned* waiting_count;  // per hub
  unsigned* called;         // the hubs at which some wait
  const struct TreeNode* tree;  // of a run that goes by one (tree.cuh)
  double* changes;          // per block: of this iteration and of the one before, in turns (settling.cuh)
};

const int FOUND_SHIFT = 44;  // of level_found: vertices above, their edges below

struct Control {  // what the host and the blocks tell each other
  struct Head {
    int64 iteration, limit, rows, row_limit, slice_ns, started;
    int64 frontier, edges;        // active at the start of this iteration
    int64 needy, needy_edges;     // vertices that want messages then, and their in-edges; estimated until one pulls
    int64 left, left_edges;       // of those, what an iteration that pulled has left
    int64 own_vertices;           // TOLD: nobody else may want messages here
    int64 next_frontier, next_edges, next_list, next_heavy;  // summed up for the next one
    int64 list_size, heavy_size, candidates;
    int64 partitions_sparse, partitions_dense, messages;
    int64 bucket, least;          // priorities: highest in the frontier, lowest that waits (buckets.cuh)
    int64 waiting;                // vertices that wait, counted when the next bucket is looked for
    int64 visited;                // vertices of all earlier frontiers (HAS_TREE)
    int64 loads;                  // vertices that become the frontier, -1: all; 0 when they have
    uint64 sources;               // where these lie
    int64 vertex;                 // the one, if it is one
    double bytes, fetched, wanted;  // what it moves; of streamed arrays what comes over the link, and what is read of them
    int64 begin_ns, middle_ns;
    double ratio, link_cost;  // BW_PC / BW_SC; what a byte over the link costs, in bytes at BW_SC
    int fresh, list_valid, alone, stop, finished, few;
    int way;  // what a tree said of the iteration: a mode, AUTO or AUTO_PUSH
    int dense, pulled;  // candidates are all vertices, since partitions send, vertices ask or many edges are; vertices ask
    unsigned scatter_claim, gather_claim, hubs_called;
  } head;
  int decision[2];  // what comes after a barrier: go on, block 0 alone, or stop
  unsigned arrived_blocks, released;  // of the grid barrier
  uint64 level_found[3];    // of levels in turns, see levels.cuh; of iterations: whether somebody goes on (steady.cuh)
  uint64 level_told[3];     // the same, in turns of their barriers (muster.cuh)
  unsigned level_leave[3];  // the level is to be left to others
  unsigned level_heard[4];  // messages that those took who asked (level_ask.cuh), till the trace has them
  unsigned levels_arrived;  // of their barrier (meet.cuh)
  int64 level_reached;      // by block 0, when the others meet it again
  double trace[TRACE_ROWS][TRACE_COLUMNS];
};

__device__ __forceinline__ unsigned partition_of(unsigned v) { return v >> BITS; }
__device__ __forceinline__ int64 degree_of(const Graph& graph, unsigned v) {
  return graph.indptr[v + 1] - graph.indptr[v];
}
__device__ __forceinline__ bool bit_of(const unsigned* bits, unsigned v) { return bits[v >> 5] >> (v & 31) & 1; }

const bool EVERY_VERTEX = ALL_ACTIVE || MASKED;  // in place of a list

__device__ __forceinline__ bool is_active(const Space& space, unsigned v) {
  return ALL_ACTIVE || bit_of(space.frontier_bits, v);
}

// Set a bit; true if it was clear. The plain look first saves most atomics.
__device__ __forceinline__ bool set_bit(unsigned* bits, unsigned v) {
  const unsigned bit = 1u << (v & 31);
  unsigned* word = bits + (v >> 5);
  if (*(volatile unsigned*)word & bit) return false;
  return !(atomicOr(word, bit) & bit);
}
__device__ __forceinline__ void clear_bit(unsigned* bits, unsigned v) { atomicAnd(bits + (v >> 5), ~(1u << (v & 31))); }

template <class T, int N>
struct __align__(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Pack {  // what one thread moves at once
  T at[N];
};
