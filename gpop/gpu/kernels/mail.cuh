// What a kernel of one block is sent, and its answer, in memory of the host that both reach (gpop/gpu/mail.py).
//
// The block fetches the letter itself and writes its answer back, over the link: for some kilobytes that takes a
// microsecond or two each, and saves the copies before and behind the launch. Beside it, how long it took between.
#include "clock.cuh"

struct Mail {
  uint4 *host, *device;     // of a launch without mail nothing
  unsigned letter, answer;  // their length in units of 16 bytes
  long long* took;          // nanoseconds
};

// By all threads, before anything that is sent is looked at.
__device__ __forceinline__ long long receive(const Mail& mail) {
  if (!mail.host) return 0;
  for (unsigned i = threadIdx.x; i < mail.letter; i += blockDim.x) mail.device[i] = mail.host[i];
  __syncthreads();
  return now_ns();
}

// By all threads, at the end; `begun`: what `receive` returned.
__device__ __forceinline__ void answer(const Mail& mail, long long begun) {
  if (!mail.host) return;
  __syncthreads();
  if (threadIdx.x == 0) *mail.took = now_ns() - begun;
  for (unsigned i = threadIdx.x; i < mail.answer; i += blockDim.x) mail.host[i] = mail.device[i];
}
