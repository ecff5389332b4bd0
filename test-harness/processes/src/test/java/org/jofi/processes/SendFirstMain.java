package org.jofi.processes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.Registration;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/** One process of {@link SendFirstTest}. One thread does all of it. */
final class SendFirstMain {
  private static final int LONGEST = 16 << 20;
  private static final int[] LENGTHS = {8, LONGEST};
  private static final int OTHER_TAG = 8;
  private static final int TAG = 6;

  private SendFirstMain() {}

  /** Arguments: provider, whether endpoints have threads, side. */
  public static void main(String[] arguments) throws IOException {
    TransportOptions.Builder options =
        TransportOptions.builder().progressThreads(ProgressThreads.valueOf(arguments[1]));
    try (Arena arena = Arena.ofShared();
        Peer peer = new Peer(arguments[0], 2, options)) {
      MemorySegment memory = arena.allocate(2L * LONGEST, 4096);
      ConnectHandle other = peer.exchange();
      Peer.Link self = peer.link(peer.listener.handle());
      for (int bytes : LENGTHS) {
        exchange(peer, self, bytes, true, memory);
        exchange(peer, self, bytes, false, memory);
      }
      self.send().close();
      self.receive().close();
      // From here on both connect to each other.
      meet();
      Peer.Link link = peer.link(other);
      for (int bytes : LENGTHS) {
        // Both send first; then one of them.
        exchange(peer, link, bytes, true, memory);
        exchange(peer, link, bytes, arguments[2].equals("first"), memory);
      }
      meet();
      link.send().close();
      link.receive().close();
      meet();
    }
  }

  private static void meet() throws IOException {
    Peer.tell("here");
    Peer.hear();
  }

  private static void exchange(
      Peer peer, Peer.Link link, int bytes, boolean sendFirst, MemorySegment memory) {
    MemorySegment from = memory.asSlice(0, bytes).fill((byte) (bytes + 5));
    MemorySegment to = memory.asSlice(LONGEST, bytes).fill((byte) 0);
    Registration source = link.send().register(from, Use.SEND);
    Registration target = link.receive().register(to, Use.RECEIVE);
    if (bytes == LONGEST) {
      // Short ones left at once.
      long unwanted = link.send().isend(source, OTHER_TAG);
      demand(link.send().cancel(unwanted), "what waits for its receive is taken back");
      demand(!link.send().cancel(unwanted), "once");
    }
    long send = sendFirst ? link.send().isend(source, TAG) : 0;
    long receive = link.receive().irecv(target, TAG);
    send = sendFirst ? send : link.send().isend(source, TAG);
    demand(peer.await.request(link.send(), send, Peer.BOUND) == bytes, "all is sent");
    demand(peer.await.request(link.receive(), receive, Peer.BOUND) == bytes, "all arrives");
    demand(from.mismatch(to) == -1, "it is what was sent");
    source.close();
    target.close();
  }

  private static void demand(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("demanded: " + what);
    }
  }
}
