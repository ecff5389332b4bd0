package org.jofi.libfabric.peers;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Map;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;

/** Each side opens a second endpoint with two queues, and uses slot 3 in both of them at once. */
final class TwoQueues {
  private static final int SLOT = 3;

  private final Peer peer;

  TwoQueues(Peer peer) {
    this.peer = peer;
  }

  void run() {
    MemorySegment memory = peer.allocate(8192);
    MemoryRegion region = peer.register(memory, Access.SEND | Access.RECV);
    AddressVector peers = peer.domain.openAddressVector(1);
    CompletionQueue sends = peer.domain.openCompletionQueue(64, 8);
    CompletionQueue receives = peer.domain.openCompletionQueue(64, 8);
    Endpoint endpoint =
        peer.domain.openEndpoint(
            new EndpointRequest("two queues", peers, sends, receives, Map.of()));
    peer.lines.send(HexFormat.of().formatHex(endpoint.address()));
    long other = peers.insert(HexFormat.of().parseHex(peer.line()));
    Completions sent = new Completions();
    Completions received = new Completions();
    peer.post(
        "recv",
        () ->
            endpoint.recv(
                memory.address() + 4096, 4096, region.descriptor(), AddressVector.ANY, SLOT));
    peer.meet();
    Pattern.fill(memory.asSlice(0, 100), 5);
    peer.post(
        "send",
        () -> {
          sends.poll(sent, 8);
          receives.poll(received, 8);
          return endpoint.send(memory.address(), 100, region.descriptor(), other, SLOT);
        });
    boolean[] done = new boolean[2];
    peer.await(
        "both completions of slot 3",
        () -> {
          sends.poll(sent, 8);
          receives.poll(received, 8);
          done[0] |= sent.take(SLOT) != null;
          done[1] |= received.take(SLOT) != null;
          return done[0] && done[1];
        });
    Pattern.verify(memory.asSlice(4096, 100), 5, "message");
    Scenario.same("slot that is none", -FabricErrno.EINVAL, endpoint.cancel(8));
    // The other side's message may still be under way from here, until it says that it has it.
    peer.lines.send("have it");
    String[] line = new String[1];
    peer.await(
        "the other side",
        () -> {
          sends.poll(sent, 8);
          receives.poll(received, 8);
          return (line[0] = peer.lines.poll()) != null;
        });
    endpoint.close();
    sends.close();
    receives.close();
    peers.close();
    peer.meet();
  }
}
