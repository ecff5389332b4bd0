package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.RdmaTransport;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.FailureCause;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Memory;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;

/** A transport closes whatever it meets on the way. */
class ClosingTest {
  @Test
  void aRequestThatArrivesMeanwhileIsNotGranted() {
    for (Profile profile : new Profile[] {Profile.EFA, Profile.CXI}) {
      try (SimulatedHosts hosts = new SimulatedHosts(profile, 5, 2)) {
        RdmaTransport listening = hosts.transports.get(1);
        ListenComm listener = hosts.device(1).listen();
        ConnectAttempt attempt = hosts.device(0).connect(listener.handle());
        attempt.poll();
        for (int i = 0; i < 1000; i++) {
          hosts.transports.get(0).tend();
          hosts.simulation.idle();
        }
        listening.close();
        TransportException refused =
            assertThrows(
                TransportException.class,
                () -> {
                  while (attempt.poll() == null) {
                    hosts.simulation.idle();
                  }
                });
        // Nobody answers any more: the bound passed, or a fault of the fabric was the last word.
        assertTrue(
            Set.of(FailureCause.TIMED_OUT, FailureCause.PEER_LOST)
                .contains(refused.failure().cause()),
            refused::getMessage);
        attempt.close();
      }
    }
  }

  /** Each waits for its peer and for its NIC, and all of them at the same time. */
  @Test
  void theBoundOfACloseIsOneForAllThatCloseTogether() {
    try (SimulatedHosts hosts = new SimulatedHosts(Profile.EFA, 7, 1)) {
      List<Pair> pairs = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        pairs.add(hosts.connect());
      }
      MemorySegment memory = hosts.memory(8192, 1);
      pairs.forEach(pair -> assertTrue(pair.receive().irecv(memory, 0, 4096, 1) > 0));
      for (int i = 0; i < 1000; i++) {
        hosts.tend();
        hosts.simulation.idle();
      }
      hosts.simulation.host(0).nic(0).stall(Duration.ofDays(1));
      // They have their receives, and are with the NIC.
      pairs.forEach(pair -> assertTrue(pair.send().isend(memory, 4096, 4096, 1) > 0));
      RdmaTransport closing = hosts.transports.getFirst();
      long before = hosts.simulation.nanoTime();
      assertThrows(TransportException.class, closing::close);
      long took = hosts.simulation.nanoTime() - before;
      long bound = closing.options().closeTimeout().toNanos();
      assertTrue(
          took < 3 * bound,
          () -> "%d ms, and the bound is %d".formatted(took / 1_000_000, bound / 1_000_000));
    }
  }

  /** Whose copies can be made, and whose streams cannot be closed: as after a kernel's fault. */
  private static DeviceMemory withFaultyCopies(DeviceMemory memory) {
    return (DeviceMemory)
        Proxy.newProxyInstance(
            ClosingTest.class.getClassLoader(),
            new Class<?>[] {DeviceMemory.class},
            (_, method, arguments) -> {
              try {
                Object result = method.invoke(memory, arguments);
                return result instanceof DeviceCopier copier ? faulty(copier) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static DeviceCopier faulty(DeviceCopier copier) {
    return (DeviceCopier)
        Proxy.newProxyInstance(
            ClosingTest.class.getClassLoader(),
            new Class<?>[] {DeviceCopier.class},
            (_, method, arguments) -> {
              try {
                Object result = method.invoke(copier, arguments);
                if (method.getName().equals("close")) {
                  throw new FabricException(
                      "cuStreamSynchronize", FabricErrno.EIO, "an illegal access", "CUDA device 0");
                }
                return result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aDriverThatFailsIsToldAndLeavesNoBlocksOpen() {
    try (SimulatedHosts hosts =
        new SimulatedHosts(Profile.TCP, 6, 2, options -> options, ClosingTest::withFaultyCopies)) {
      Pair pair = hosts.connect();
      MemorySegment memory = hosts.simulation.host(1).allocateDevice(MemoryKind.CUDA, 10_000);
      pair.receive()
          .register(
              Memory.device(MemoryKind.CUDA, 0, memory.address(), memory.byteSize()), Use.RECEIVE);
      pair.send().close();
      TransportException failed =
          assertThrows(TransportException.class, () -> pair.receive().close());
      assertEquals(FailureCause.FABRIC, failed.failure().cause());
      assertTrue(
          String.valueOf(failed.getMessage()).contains("an illegal access"), failed::getMessage);
      pair.receive().close();
    }
  }
}
