package org.jofi.libfabric.peers;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;

/**
 * The first peer sends, writes with data and reads, 10 000 times with up to 32 operations in
 * flight, each in its own slot of a shared plan; the second checks each arrival. Both know the plan
 * from one seed.
 */
final class ManyOperations {
  private static final int OPERATIONS = 10_000;
  private static final int WINDOW = 32;
  private static final int SLOT_BYTES = 8192;
  private static final int SEND = 0;
  private static final int WRITE = 1;
  private static final int READ = 2;

  private final Peer peer;
  private final int[] kinds = new int[OPERATIONS];
  private final int[] sizes = new int[OPERATIONS];
  private final MemorySegment memory;
  private final MemorySegment readable;
  private final MemoryRegion region;
  private final MemoryRegion readableRegion;

  ManyOperations(Peer peer) {
    this.peer = peer;
    Random random = Scenario.random();
    for (int i = 0; i < OPERATIONS; i++) {
      kinds[i] = random.nextInt(3);
      sizes[i] = 8 + random.nextInt(random.nextInt(4) == 0 ? SLOT_BYTES - 8 : 256);
    }
    memory = peer.allocate((long) WINDOW * SLOT_BYTES);
    readable = peer.allocate(SLOT_BYTES);
    region = peer.register(memory, Access.ALL);
    readableRegion = peer.register(readable, Access.READ | Access.REMOTE_READ);
  }

  void run() {
    Peer.Remote remote = peer.exchange(region);
    Pattern.fill(readable, 99);
    Peer.Remote remoteReadable = peer.exchange(readableRegion);
    if (peer.first) {
      initiate(remote, remoteReadable);
      peer.lines.send("done");
    } else {
      answer();
      peer.line();
    }
  }

  /** A slot is used again when its operation is complete here and, if it arrived there, seen. */
  private void initiate(Peer.Remote remote, Peer.Remote remoteReadable) {
    int[] inSlot = new int[WINDOW];
    Arrays.fill(inSlot, -1);
    boolean[] seen = new boolean[OPERATIONS];
    int[] contexts = new int[WINDOW];
    peer.line();
    for (int i = 0; i < OPERATIONS; i++) {
      int slot = i % WINDOW;
      finish(slot, inSlot[slot], contexts[slot], seen);
      int context = i % Peer.CONTEXTS;
      long offset = (long) slot * SLOT_BYTES;
      MemorySegment piece = memory.asSlice(offset, sizes[i]);
      int operation = i;
      switch (kinds[i]) {
        case SEND -> {
          mark(piece, i);
          peer.post(
              "send " + i,
              () ->
                  peer.endpoint.send(
                      piece.address(), sizes[operation], region.descriptor(), peer.other, context));
        }
        case WRITE -> {
          mark(piece, i);
          peer.post(
              "write " + i,
              () ->
                  peer.endpoint.writeData(
                      piece.address(),
                      sizes[operation],
                      region.descriptor(),
                      operation,
                      peer.other,
                      remote.address() + offset,
                      remote.key(),
                      context,
                      PostFlags.NONE));
        }
        default -> {
          piece.fill((byte) 0);
          peer.post(
              "read " + i,
              () ->
                  peer.endpoint.read(
                      piece.address(),
                      sizes[operation],
                      region.descriptor(),
                      peer.other,
                      remoteReadable.address(),
                      remoteReadable.key(),
                      context));
        }
      }
      inSlot[slot] = i;
      contexts[slot] = context;
    }
    for (int slot = 0; slot < WINDOW; slot++) {
      finish(slot, inSlot[slot], contexts[slot], seen);
    }
  }

  private void finish(int slot, int operation, int context, boolean[] seen) {
    if (operation < 0) {
      return;
    }
    peer.success(context, "operation " + operation);
    if (kinds[operation] == READ) {
      Pattern.verify(
          memory.asSlice((long) slot * SLOT_BYTES, sizes[operation]), 99, "read " + operation);
      return;
    }
    peer.await(
        "operation " + operation + " to be seen",
        () -> {
          String line;
          while ((line = peer.lines.poll()) != null) {
            seen[Integer.parseInt(line)] = true;
          }
          return seen[operation];
        });
  }

  /** The number of the operation, then a pattern of it. */
  private static void mark(MemorySegment piece, int operation) {
    Pattern.fill(piece, operation);
    piece.set(ValueLayout.JAVA_INT_UNALIGNED, 0, operation);
  }

  private void answer() {
    MemorySegment inbox = peer.allocate((long) WINDOW * SLOT_BYTES);
    MemoryRegion inboxRegion = peer.register(inbox, Access.RECV);
    for (int slot = 0; slot < WINDOW; slot++) {
      receive(inbox, inboxRegion, slot);
    }
    peer.lines.send("posted");
    int expected = 0;
    for (int kind : kinds) {
      expected += kind == READ ? 0 : 1;
    }
    int[] arrived = {0};
    int all = expected;
    peer.await(
        "all arrivals",
        () -> {
          Completions.Completion write = peer.completions.takeImmediate();
          if (write != null) {
            int operation = (int) write.data();
            seen(memory.asSlice((long) (operation % WINDOW) * SLOT_BYTES), operation);
            arrived[0]++;
          }
          for (int slot = 0; slot < WINDOW; slot++) {
            Completions.Completion message = peer.completions.take(slot);
            if (message != null) {
              if (message.failure() != null) {
                throw new AssertionError("receive failed", message.failure());
              }
              MemorySegment piece = inbox.asSlice((long) slot * SLOT_BYTES);
              int operation = piece.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
              Scenario.same(
                  "length of message " + operation, sizes[operation], message.lengthBytes());
              seen(piece, operation);
              arrived[0]++;
              receive(inbox, inboxRegion, slot);
            }
          }
          return arrived[0] == all;
        });
    for (int slot = 0; slot < WINDOW; slot++) {
      int code = peer.endpoint.cancel(slot);
      if (code != 0 && code != -FabricErrno.ENOENT) {
        throw new Lack("receives cannot be cancelled: " + FabricErrno.name(-code));
      }
    }
  }

  private void receive(MemorySegment inbox, MemoryRegion inboxRegion, int slot) {
    peer.post(
        "recv",
        () ->
            peer.endpoint.recv(
                inbox.address() + (long) slot * SLOT_BYTES,
                SLOT_BYTES,
                inboxRegion.descriptor(),
                AddressVector.ANY,
                slot));
  }

  private void seen(MemorySegment piece, int operation) {
    Scenario.same(
        "number in operation " + operation,
        operation,
        piece.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
    MemorySegment copy = MemorySegment.ofArray(new byte[sizes[operation]]);
    mark(copy, operation);
    if (copy.mismatch(piece.asSlice(0, sizes[operation])) >= 0) {
      throw new AssertionError(
          "operation %d differs at byte %d"
              .formatted(operation, copy.mismatch(piece.asSlice(0, sizes[operation]))));
    }
    peer.lines.send(Integer.toString(operation));
  }
}
