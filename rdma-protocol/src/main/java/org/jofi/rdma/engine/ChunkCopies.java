package org.jofi.rdma.engine;

import java.util.Arrays;
import org.jofi.counters.written.CounterType;
import org.jofi.rdma.operation.EndpointContext;
import org.jofi.rdma.operation.Task;
import org.jofi.rdma.request.RequestStrategy;
import org.jofi.rdma.staging.StagingRing;
import org.jofi.rdma.staging.StagingSpace;
import org.jofi.rdma.wire.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * The copies of the chunks of a staged request, from or into its blocks: begun in order, {@code
 * done <= begun}. Where memory needs no blocks, its chunks count as copied.
 */
final class ChunkCopies extends Task {
  /** Chunks that are under way at once, at most. */
  static final int PARTS = ProtocolLimits.MAX_GROUP;

  private static final int NONE = -1;

  private final RequestStrategy owner;
  private final EndpointContext endpoint;
  private final Task next;
  private final int[] copies = new int[PARTS];

  /** The blocks; null if none are needed, or {@link #takeRing} took them. */
  @Nullable StagingRing ring;

  /** What its copies are of, which may be longer under way than they have their blocks. */
  private @Nullable StagingSpace space;

  private int underWay;

  /** Bits of the chunks after {@link #done} that are copied. */
  private int doneLater;

  long begun;

  /** How many are copied, from the first on. */
  long done;

  /**
   * @param next goes on when a copy is over
   */
  ChunkCopies(RequestStrategy owner, EndpointContext endpoint, Task next) {
    this.owner = owner;
    this.endpoint = endpoint;
    this.next = next;
    Arrays.fill(copies, NONE);
  }

  /** Begins anew, through these blocks; none is under way. */
  void begin(@Nullable StagingRing blocks) {
    ring = blocks;
    space = blocks == null ? null : blocks.space();
    doneLater = 0;
    begun = 0;
    done = 0;
  }

  /** The blocks, which are the caller's now. */
  @Nullable StagingRing takeRing() {
    StagingRing blocks = ring;
    ring = null;
    return blocks;
  }

  static int part(long chunk) {
    return (int) (chunk % PARTS);
  }

  /** Begins the next copy; false if as many are under way as there may be, or it failed. */
  boolean start(boolean toHost, long deviceAddress, long bytes) {
    int part = part(begun);
    StagingRing blocks = ring;
    if (blocks == null || bytes == 0) {
      doneLater |= 1 << part;
    } else {
      StagingSpace by = blocks.space();
      int copy = by.copy(toHost, deviceAddress, blocks.block(begun), bytes);
      if (copy < 0) {
        if (copy != StagingSpace.AGAIN) {
          owner.fail(by.failure(copy));
        }
        return false;
      }
      copies[part] = copy;
      underWay++;
      owner.request.begun();
      endpoint.counters().add(CounterType.BYTES_STAGED, bytes);
      endpoint.tasks().defer(this);
    }
    begun++;
    count();
    return true;
  }

  private void count() {
    while (done < begun && (doneLater & 1 << part(done)) != 0) {
      doneLater &= ~(1 << part(done));
      done++;
    }
  }

  @Override
  protected boolean advance() {
    StagingSpace by = space;
    for (int part = 0; part < PARTS && by != null; part++) {
      int state = copies[part] == NONE ? StagingSpace.IN_PROGRESS : by.test(copies[part]);
      if (state != StagingSpace.IN_PROGRESS) {
        copies[part] = NONE;
        underWay--;
        owner.request.returned();
        owner.request.restartBound();
        if (state < 0) {
          owner.fail(by.failure(state));
        } else {
          doneLater |= 1 << part;
          count();
          owner.request.settle();
        }
        endpoint.tasks().defer(next);
      }
    }
    return underWay == 0;
  }
}
