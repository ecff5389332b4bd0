package org.jofi.processes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.ProgressThreads;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.RemoteMemory;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportOptions;
import org.jofi.transport.Use;

/**
 * One process of {@link EarlyWritesTest}. The first connects, and looks away until the second has
 * accepted and posted all that it wants to write.
 */
final class EarlyWritesMain {
  private static final int RECEIVES = 8;
  private static final int SMALL = 4096;

  /** Enough for a stripe on each rail. */
  private static final int LONG = 1 << 20;

  private static final int TAG = 5;

  /** How long the first looks away: far longer than a write takes. */
  private static final long AWAY_NS = 300_000_000L;

  private EarlyWritesMain() {}

  /** Arguments: provider, side. */
  public static void main(String[] arguments) throws IOException {
    TransportOptions.Builder options =
        TransportOptions.builder().progressThreads(ProgressThreads.NEVER);
    try (Arena arena = Arena.ofShared();
        Peer peer = new Peer(arguments[0], 2, options)) {
      MemorySegment memory = arena.allocate(LONG, 4096);
      if (arguments[1].equals("first")) {
        connect(peer, memory);
      } else {
        accept(peer, memory);
      }
    }
  }

  private static void connect(Peer peer, MemorySegment memory) throws IOException {
    // Its memory is registered before there is a connection to the other process.
    Peer.Link self = peer.link(peer.listener.handle());
    Registration exposed = self.send().register(memory, Use.SEND, Use.PEER_READS, Use.PEER_WRITES);
    Peer.tell(HexFormat.of().formatHex(exposed.remote().encode()));
    ConnectHandle other = ConnectHandle.decode(HexFormat.of().parseHex(Peer.hear()));
    try (ConnectAttempt attempt = peer.device.connect(other)) {
      // The request leaves; its answer is not looked at before the other side has posted.
      attempt.poll();
      demand(Peer.hear().equals("posted"), "the other side is as far");
      SendComm send = peer.await.connection(attempt, Peer.BOUND);
      Peer.tell("connected");
      demand(Peer.hear().equals("written"), "the other side is as far");
      for (int at = 0; at < LONG; at++) {
        demand(memory.get(ValueLayout.JAVA_BYTE, at) == pattern(at), "what was written is there");
      }
      Registration own = send.register(memory, Use.SEND, Use.RECEIVE);
      demandAll(peer, send, sendAll(send, own), SMALL);
      Peer.tell("sent");
      demand(Peer.hear().equals("done"), "the other side is as far");
      own.close();
      send.close();
    }
    exposed.close();
    self.send().close();
    self.receive().close();
  }

  private static void accept(Peer peer, MemorySegment memory) throws IOException {
    for (int at = 0; at < LONG; at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, pattern(at));
    }
    rehearse(peer, memory);
    RemoteMemory far = RemoteMemory.decode(HexFormat.of().parseHex(Peer.hear()));
    Peer.tell(HexFormat.of().formatHex(peer.listener.handle().encode()));
    RecvComm receive = peer.await.accepted(peer.listener, Peer.BOUND);
    Registration own = receive.register(memory, Use.SEND, Use.RECEIVE);
    List<Long> receives = receiveAll(receive, own);
    long write = receive.iwrite(own, 0, LONG, far, 0);
    for (long start = System.nanoTime(); System.nanoTime() - start < AWAY_NS; ) {
      receive.progress();
    }
    Peer.tell("posted");
    demand(Peer.hear().equals("connected"), "the other side is as far");
    demandAll(peer, receive, List.of(write), LONG);
    Peer.tell("written");
    demandAll(peer, receive, receives, SMALL);
    demand(Peer.hear().equals("sent"), "the other side is as far");
    Peer.tell("done");
    own.close();
    receive.close();
  }

  /** The same with itself, so that nothing is slow because it is done for the first time. */
  private static void rehearse(Peer peer, MemorySegment memory) {
    Peer.Link self = peer.link(peer.listener.handle());
    Registration from =
        self.send().register(memory, Use.SEND, Use.RECEIVE, Use.PEER_READS, Use.PEER_WRITES);
    Registration to = self.receive().register(memory, Use.SEND, Use.RECEIVE);
    receiveAll(self.receive(), to);
    long write = self.receive().iwrite(to, 0, LONG, from.remote(), 0);
    demandAll(peer, self.receive(), List.of(write), LONG);
    from.close();
    self.send().close();
    to.close();
    self.receive().close();
  }

  private static List<Long> receiveAll(RecvComm receive, Registration memory) {
    List<Long> receives = new ArrayList<>();
    for (int i = 0; i < RECEIVES; i++) {
      receives.add(receive.irecv(memory, (long) i * SMALL, SMALL, TAG));
    }
    return receives;
  }

  private static List<Long> sendAll(SendComm send, Registration memory) {
    List<Long> sends = new ArrayList<>();
    for (int i = 0; i < RECEIVES; i++) {
      sends.add(send.isend(memory, (long) i * SMALL, SMALL, TAG));
    }
    return sends;
  }

  private static void demandAll(Peer peer, Comm comm, List<Long> requests, long bytes) {
    for (long request : requests) {
      long result = peer.await.request(comm, request, Peer.BOUND);
      demand(result == bytes, "all moves: " + result + ", " + comm.failure(request));
    }
  }

  private static byte pattern(int at) {
    return (byte) (at * 7 + (at >> 8));
  }

  private static void demand(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("demanded: " + what);
    }
  }
}
