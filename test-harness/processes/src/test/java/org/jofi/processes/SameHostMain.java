package org.jofi.processes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/** One process of {@link SameHostTest}: messages with itself, messages both ways, and flushes. */
final class SameHostMain {
  static final int RAILS = 2;
  static final int FLUSHES = 10;

  /** How many bytes are flushed at once. */
  static final int BYTES = 1 << 20;

  /** Begins the line that says how flushes end. */
  static final String FLUSHED = "flushes: ";

  /** Begins the line that says why they do something. */
  static final String REASON = "reason: ";

  private static final int TAG = 4;
  private static final int[] LENGTHS = {8, 64 * 1024, BYTES};

  private SameHostMain() {}

  /** Arguments: provider, side. */
  public static void main(String[] arguments) throws IOException {
    TransportOptions.Builder options =
        TransportOptions.builder()
            .progressThreads(ProgressThreads.NEVER)
            .flushPolicy(FlushPolicy.ALWAYS);
    boolean first = arguments[1].equals("first");
    try (Arena arena = Arena.ofShared();
        Peer peer = new Peer(arguments[0], RAILS, options)) {
      ConnectHandle other = peer.exchange();
      Peer.Link self = peer.link(peer.listener.handle());
      for (int bytes : LENGTHS) {
        exchange(peer, self, bytes, arena, 3, 3);
      }
      meet();
      self.send().close();
      self.receive().close();
      Peer.Link link = peer.link(other);
      for (int bytes : LENGTHS) {
        exchange(peer, link, bytes, arena, first ? 1 : 2, first ? 2 : 1);
      }
      meet();
      flush(peer, link.receive(), arena);
      meet();
      link.send().close();
      link.receive().close();
      meet();
    }
  }

  /** A message each way; what is sent is full of one value, and what comes of another. */
  private static void exchange(
      Peer peer, Peer.Link link, int bytes, Arena arena, int ours, int theirs) {
    MemorySegment from = arena.allocate(bytes, 4096).fill((byte) ours);
    MemorySegment to = arena.allocate(bytes, 4096);
    Registration source = link.send().register(from, Use.SEND);
    Registration target = link.receive().register(to, Use.RECEIVE);
    long receive = link.receive().irecv(target, TAG);
    long send = link.send().isend(source, TAG);
    demand(peer.await.request(link.receive(), receive, Peer.BOUND) == bytes, "all arrives");
    demand(peer.await.request(link.send(), send, Peer.BOUND) == bytes, "all is sent");
    source.close();
    target.close();
    demand(to.mismatch(from.fill((byte) theirs)) == -1, "it is what the other one sent");
  }

  /** Says what flushes come to, each of them the same. */
  private static void flush(Peer peer, RecvComm receive, Arena arena) {
    Registration memory = receive.register(arena.allocate(BYTES, 4096), Use.RECEIVE);
    List<String> ends = new ArrayList<>();
    for (int i = 0; i < FLUSHES; i++) {
      long request = receive.iflush(memory, 0, memory.lengthBytes());
      try {
        ends.add(Long.toString(peer.await.request(receive, request, Peer.BOUND)));
      } catch (TransportException refused) {
        ends.add(refused.failure().cause() + " " + refused.getMessage());
      }
    }
    System.out.println(FLUSHED + String.join(", ", ends.stream().distinct().toList()));
    System.out.println(REASON + receive.flushReason(memory));
    memory.close();
  }

  private static void meet() throws IOException {
    Peer.tell("here");
    Peer.hear();
  }

  private static void demand(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("demanded: " + what);
    }
  }
}
