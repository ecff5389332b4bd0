package org.jofi.mr.recording;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jofi.mr.registration.CacheCounters;

/** Counters in plain memory. */
public final class TestCounters {
  private static final int COUNT = 16;

  private TestCounters() {}

  public static CacheCounters open() {
    return new CacheCounters(
        new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNT * CountersReader.METADATA_LENGTH)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNT * CountersReader.COUNTER_LENGTH))),
        "test");
  }
}
