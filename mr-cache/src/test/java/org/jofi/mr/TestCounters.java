package org.jofi.mr;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;

/** Counters in plain memory. */
final class TestCounters {
  private static final int COUNT = 16;

  private TestCounters() {}

  static CacheCounters open() {
    return new CacheCounters(
        new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNT * CountersReader.METADATA_LENGTH)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNT * CountersReader.COUNTER_LENGTH))),
        "test");
  }
}
