package org.jofi.collectives.schedule;

/** The messages that a range is cut into. */
record Chunks(long begin, long length, long chunk) {
  /** Takes a chunk. */
  interface Each {
    void accept(long offset, long count);
  }

  long chunks() {
    return Math.ceilDiv(length, chunk);
  }

  void forEach(Each each) {
    for (long done = 0; done < length; done += chunk) {
      each.accept(begin + done, Math.min(chunk, length - done));
    }
  }
}
