package org.jofi.rdma.communicator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.communicator.SimulatedHosts.Pair;
import org.jofi.simulated.profile.Profile;
import org.jofi.transport.Comm;
import org.jofi.transport.Memory;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.junit.jupiter.api.Test;

/** Blocks for staging are pinned while the endpoint goes on, or are refused. */
class PinningTest {
  private static final long BOUND_SECONDS = 60;
  private static final int BYTES = 3_000_000;

  /** A driver that pins when it is told to, or refuses. */
  private static final class Driver {
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile boolean blocks;
    private volatile boolean waitedInVain;
    private volatile boolean refuses;

    DeviceMemory over(DeviceMemory driver) {
      return (DeviceMemory)
          Proxy.newProxyInstance(
              DeviceMemory.class.getClassLoader(),
              new Class<?>[] {DeviceMemory.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("pin")) {
                  pin((long) arguments[0], (long) arguments[1]);
                }
                try {
                  return method.invoke(driver, arguments);
                } catch (InvocationTargetException failed) {
                  throw failed.getCause();
                }
              });
    }

    private void pin(long address, long bytes) throws InterruptedException {
      if (refuses) {
        throw new FabricException(
            "pin", FabricErrno.ENOMEM, "", "host [0x%x, +%d)".formatted(address, bytes));
      }
      if (blocks) {
        entered.countDown();
        waitedInVain = !goOn.await(BOUND_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  private static SimulatedHosts hosts(Driver driver) {
    return new SimulatedHosts(Profile.TCP, 1, 1, UnaryOperator.identity(), driver::over);
  }

  private static MemorySegment device(SimulatedHosts hosts, int host) {
    return hosts.simulation.host(host).allocateDevice(MemoryKind.CUDA, BYTES);
  }

  private static Registration register(Comm comm, MemorySegment memory, Use use) {
    return comm.register(Memory.device(MemoryKind.CUDA, 0, memory.address(), BYTES), use);
  }

  private static void exchange(SimulatedHosts hosts, Pair pair) {
    long receive = pair.receive().irecv(hosts.memory(100_000, 4), 0, 100_000, 1);
    long send = pair.send().isend(hosts.memory(100_000, 3), 0, 100_000, 1);
    assertEquals(100_000, hosts.await(pair.receive(), receive));
    assertEquals(100_000, hosts.await(pair.send(), send));
  }

  /** While a call of another thread waits for its driver, another communicator goes on. */
  private static <T> T othersGoOn(SimulatedHosts hosts, Pair other, Driver driver, Callable<T> call)
      throws Exception {
    exchange(hosts, other);
    driver.blocks = true;
    FutureTask<T> posting = new FutureTask<>(call);
    Thread.ofPlatform().daemon().start(posting);
    assertTrue(driver.entered.await(BOUND_SECONDS, TimeUnit.SECONDS), "nothing is pinned");
    exchange(hosts, other);
    driver.goOn.countDown();
    T result = posting.get(BOUND_SECONDS, TimeUnit.SECONDS);
    assertFalse(driver.waitedInVain, "another communicator waited for the driver");
    return result;
  }

  @Test
  void registeringDeviceMemoryHoldsUpNoOtherCommunicator() throws Exception {
    Driver driver = new Driver();
    try (SimulatedHosts hosts = hosts(driver)) {
      Pair pair = hosts.connect();
      MemorySegment memory = device(hosts, 1);
      othersGoOn(
              hosts, hosts.connect(), driver, () -> register(pair.receive(), memory, Use.RECEIVE))
          .close();
    }
  }

  @Test
  void postingAStagedReceiveHoldsUpNoOtherCommunicator() throws Exception {
    Driver driver = new Driver();
    try (SimulatedHosts hosts = hosts(driver)) {
      Pair pair = hosts.connect();
      Pair other = hosts.connect();
      Registration target = register(pair.receive(), device(hosts, 1), Use.RECEIVE);
      long first = pair.receive().irecv(target, 1);
      long second = othersGoOn(hosts, other, driver, () -> pair.receive().irecv(target, 2));
      Registration source = pair.send().register(hosts.memory(BYTES, 8), Use.SEND);
      for (int tag = 1; tag <= 2; tag++) {
        long sent = pair.send().isend(source, tag);
        assertEquals(BYTES, hosts.await(pair.send(), sent));
        assertEquals(BYTES, hosts.await(pair.receive(), tag == 1 ? first : second));
      }
    }
  }

  /** Two sends have their receives, and blocks are there for one. */
  @Test
  void aSendThatWantsBlocksHoldsUpNoOtherCommunicator() throws Exception {
    Driver driver = new Driver();
    try (SimulatedHosts hosts = hosts(driver)) {
      Pair pair = hosts.connect();
      Pair other = hosts.connect();
      Registration source = register(pair.send(), device(hosts, 0), Use.SEND);
      Registration target = pair.receive().register(hosts.memory(BYTES, 2), Use.RECEIVE);
      List<Long> receives =
          List.of(pair.receive().irecv(target, 1), pair.receive().irecv(target, 1));
      for (int i = 0; i < 10; i++) {
        hosts.tend();
        hosts.simulation.idle();
      }
      long first = pair.send().isend(source, 1);
      long second = othersGoOn(hosts, other, driver, () -> pair.send().isend(source, 1));
      for (long receive : receives) {
        assertEquals(BYTES, hosts.await(pair.receive(), receive));
      }
      assertEquals(BYTES, hosts.await(pair.send(), first));
      assertEquals(BYTES, hosts.await(pair.send(), second));
    }
  }

  @Test
  void whatTheDriverRefusesIsToldToWhoRegisters() {
    Driver driver = new Driver();
    try (SimulatedHosts hosts = hosts(driver)) {
      Pair pair = hosts.connect();
      driver.refuses = true;
      TransportException refused =
          assertThrows(
              TransportException.class,
              () -> register(pair.receive(), device(hosts, 1), Use.RECEIVE).close());
      String words = String.valueOf(refused.getMessage());
      assertTrue(words.contains("pin on host [0x") && words.contains("ENOMEM"), words);
    }
  }

  /** What more could not be pinned is missed by nobody, as long as there are some blocks. */
  @Test
  void whatIsRefusedLaterGoesThroughTheBlocksThatThereAre() {
    Driver driver = new Driver();
    try (SimulatedHosts hosts = hosts(driver)) {
      Pair pair = hosts.connect();
      Registration target = register(pair.receive(), device(hosts, 1), Use.RECEIVE);
      Registration source = register(pair.send(), device(hosts, 0), Use.SEND);
      driver.refuses = true;
      long receive = pair.receive().irecv(target, 1);
      assertEquals(Result.TRY_AGAIN, pair.receive().irecv(target, 1));
      List<Long> sends = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        sends.add(pair.send().isend(source, 1));
      }
      for (int i = 0; i < 4; i++) {
        assertEquals(BYTES, hosts.await(pair.receive(), receive));
        receive = i == 3 ? 0 : pair.receive().irecv(target, 1);
        assertFalse(i < 3 && receive <= 0, "no blocks were given back");
      }
      for (long send : sends) {
        assertEquals(BYTES, hosts.await(pair.send(), send));
      }
      assertNotNull(source.memory());
    }
  }
}
