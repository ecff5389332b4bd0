package org.jofi.collectives.schedule;

/** An array in parts that differ by one element at most. */
record Segments(long count, int parts) {
  /** The first element of a part; of the number of parts, the end of the array. */
  long begin(int part) {
    long each = count / parts;
    return part * each + Math.min(part, count % parts);
  }

  long length(int part) {
    return begin(part + 1) - begin(part);
  }

  /** The messages of a part. */
  Chunks cut(int part, long chunk) {
    return new Chunks(begin(part), length(part), chunk);
  }

  /** The length of the longest part. */
  long longest() {
    return Math.ceilDiv(count, parts);
  }
}
