package org.jofi.cli;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.Await;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/** A program that sends messages to itself over a simulated fabric until it is killed. */
final class StatTrafficMain {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private StatTrafficMain() {}

  /** Prints a line once it counts. */
  public static void main(String[] arguments) {
    TransportOptions options = TransportOptions.builder().provider("simulated-efa").build();
    Await await = new Await();
    try (Transport transport = Transport.open(new SimulatedProvider(), options);
        Arena arena = transport.openArena()) {
      Device device = transport.devices().getFirst();
      ListenComm listener = device.listen();
      ConnectAttempt attempt = device.connect(listener.handle());
      RecvComm receiver = await.accepted(listener, BOUND);
      SendComm sender = await.connection(attempt, BOUND);
      MemorySegment from = arena.allocate(4096);
      MemorySegment into = arena.allocate(4096);
      for (long round = 0; ; round++) {
        int tag = (int) (round & 1);
        long receive = receiver.irecv(into, 0, 2048 + tag, tag);
        long send = sender.isend(from, 0, 2048 + tag, tag);
        await.request(sender, send, BOUND);
        await.request(receiver, receive, BOUND);
        if (round == 20) {
          tooLong(await, device);
          System.out.println("counts");
          System.out.flush();
        }
      }
    }
  }

  /** A failure to tell of: a message that is longer than its receive. */
  private static void tooLong(Await await, Device device) {
    try (ListenComm listener = device.listen();
        Arena arena = Arena.ofShared()) {
      ConnectAttempt attempt = device.connect(listener.handle());
      RecvComm receiver = await.accepted(listener, BOUND);
      SendComm sender = await.connection(attempt, BOUND);
      receiver.irecv(arena.allocate(100_000), 0, 100_000, 1);
      long send = sender.isend(arena.allocate(200_000), 0, 200_000, 1);
      await.request(sender, send, BOUND);
      throw new AssertionError("sent to a receive that is too short");
    } catch (TransportException expected) {
      // It is counted.
    }
  }
}
