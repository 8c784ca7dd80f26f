// What the owner of a vertex makes of its messages, which it walks one after the other: gatherFunc of each,
// but of sums once of all, since a float32 field cannot take a hub's messages one by one.
struct Inbox {
  Total sum = Total(0);
  int heard = 0;  // messages
  bool activated = false;

  template <class Self>
  __device__ __forceinline__ void take(Self& self, Gathered value, unsigned v) {
    heard += 1;
    if (COMBINE == ADD) {
      sum += (Total)value;
    } else {
      activated |= gatherFunc(self, value, v);
    }
  }
  // After the last message; true if v becomes active.
  template <class Self>
  __device__ __forceinline__ bool close(Self& self, unsigned v) {
    if (COMBINE == ADD && heard) activated = gatherFunc(self, (Gathered)sum, v);
    return activated;
  }
};
