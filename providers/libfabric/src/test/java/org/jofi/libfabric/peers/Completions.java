package org.jofi.libfabric.peers;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricException;
import org.jspecify.annotations.Nullable;

/** What a queue reported, kept until somebody asks. */
final class Completions implements CompletionQueue.Sink {
  /** A completion by its context, or an arrival of immediate data. */
  record Completion(
      int context, long flags, long lengthBytes, long data, @Nullable FabricException failure) {}

  private final Map<Integer, Completion> byContext = new HashMap<>();
  private final ArrayDeque<Completion> immediates = new ArrayDeque<>();

  @Override
  public void completed(int context, long flags, long lengthBytes, long data) {
    Completion completion = new Completion(context, flags, lengthBytes, data, null);
    // A receive's may have such data too.
    if (CompletionFlags.bringsData(flags) && (flags & CompletionFlags.RECV) == 0) {
      immediates.add(completion);
    } else {
      keep(completion);
    }
  }

  @Override
  public void failed(CompletionError error) {
    keep(
        new Completion(
            error.context(), error.flags(), error.lengthBytes(), 0, error.toException()));
  }

  private void keep(Completion completion) {
    Completion earlier = byContext.put(completion.context(), completion);
    if (earlier != null && completion.context() != CompletionQueue.NO_CONTEXT) {
      throw new AssertionError("context completed twice: " + earlier + " and " + completion);
    }
  }

  @Nullable Completion take(int context) {
    return byContext.remove(context);
  }

  @Nullable Completion takeImmediate() {
    return immediates.poll();
  }
}
