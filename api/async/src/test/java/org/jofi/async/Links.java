package org.jofi.async;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jofi.fabric.FabricProvider;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.transport.Device;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/** A device that a driver connects with itself. */
final class Links implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofMinutes(1);

  final Transport transport;
  final Device device;
  final java.lang.foreign.Arena arena;
  final Driver driver;

  private Links(Transport transport, DriverOptions options) {
    this.transport = transport;
    device = transport.devices().getFirst();
    arena = transport.openArena();
    driver = Driver.start(device, options);
  }

  /** Over the simulated fabric, in real time. */
  static Links simulated(DriverOptions options) {
    return new Links(
        Transport.open(
            new SimulatedProvider(),
            TransportOptions.builder()
                .provider("simulated-efa")
                .closeTimeout(Duration.ofSeconds(5))
                .build()),
        options);
  }

  static Links simulated() {
    return simulated(DriverOptions.defaults());
  }

  /** Over a provider of libfabric's. */
  static Links over(String provider) {
    return over(provider, TransportOptions.defaults().peerTimeout());
  }

  static Links over(String provider, Duration peerTimeout) {
    return new Links(
        Transport.open(
            FabricProvider.named("libfabric"),
            TransportOptions.builder().provider(provider).peerTimeout(peerTimeout).build()),
        DriverOptions.defaults());
  }

  /** A connection. */
  record Link(AsyncSender out, AsyncReceiver in) {}

  Link connect() {
    return connect(driver, driver);
  }

  Link connect(Driver from, Driver to) {
    try (ListenComm listener = device.listen()) {
      CompletableFuture<AsyncReceiver> accepted = to.accept(listener);
      CompletableFuture<AsyncSender> connected = from.connect(listener.handle());
      return new Link(soon(connected), soon(accepted));
    }
  }

  MemorySegment memory(long bytes, int pattern) {
    MemorySegment memory = arena.allocate(bytes, 64);
    fill(memory, pattern);
    return memory;
  }

  static void fill(MemorySegment memory, int pattern) {
    for (long at = 0; at < memory.byteSize(); at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) (7 * at + pattern));
    }
  }

  /** What a future ends with; an exception as it is. */
  static <T> T soon(CompletableFuture<T> future) {
    try {
      return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof TransportException failure ? failure : e;
    }
  }

  static void await(String what, BooleanSupplier done) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("waited in vain for " + what);
      }
      Thread.sleep(1);
    }
  }

  @Override
  public void close() {
    driver.close();
    transport.close();
    arena.close();
  }
}
