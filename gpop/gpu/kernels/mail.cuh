// What a kernel of one block is sent, and its answer, in memory of the host that both reach (gpop/gpu/mail.py).
//
// The block fetches the letter itself and writes its answer back, word by word over the link: for some kilobytes that
// takes a microsecond or two each, where copies before and behind a launch, and waiting for its stream, take ten. The
// host looks at `answered` meanwhile, which is written last: the nanoseconds between letter and answer, and one.
#include "clock.cuh"

struct Mail {
  uint4 *host, *device;    // of a launch without mail nothing
  unsigned letter, answer;  // their length in units of 16 bytes
  unsigned long long* answered;
};

// By all threads, before anything that is sent is looked at.
__device__ __forceinline__ long long receive(const Mail& mail) {
  if (!mail.host) return 0;
  for (unsigned i = threadIdx.x; i < mail.letter; i += blockDim.x) mail.device[i] = mail.host[i];
  __syncthreads();
  return now_ns();
}

// By all threads, at the end; `begun`: what `receive` returned. The fence is for what the whole block has written.
__device__ __forceinline__ void answer(const Mail& mail, long long begun) {
  if (!mail.host) return;
  __syncthreads();
  const long long ended = now_ns();
  for (unsigned i = threadIdx.x; i < mail.answer; i += blockDim.x) mail.host[i] = mail.device[i];
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *(volatile unsigned long long*)mail.answered = (unsigned long long)(ended - begun) + 1;
}
