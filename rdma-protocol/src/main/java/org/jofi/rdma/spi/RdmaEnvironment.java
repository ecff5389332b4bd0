package org.jofi.rdma.spi;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.CounterFile;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.MemoryKind;

/**
 * What the protocol needs of the machine. It is passed in, so that the protocol can also run in
 * virtual time.
 *
 * @param clock for all time limits
 * @param random numbers that cannot be guessed: nonces
 * @param idle what to do while a close waits; one per wait, and it must let other threads run
 * @param pageBytes size of a page of memory
 * @param processors how many this process may use
 * @param executors starts progress threads of endpoints
 * @param sysfs the folder from which PCI locality is read, normally /sys
 * @param deviceMemory finds the provider for a kind of device memory, without loading a driver
 * @param counters where it is counted what happens; stays the caller's
 */
public record RdmaEnvironment(
    NanoClock clock,
    LongSupplier random,
    Supplier<IdleStrategy> idle,
    int pageBytes,
    int processors,
    ProgressExecutor.Starter executors,
    Path sysfs,
    Function<MemoryKind, Optional<DeviceMemoryProvider>> deviceMemory,
    CounterFile counters) {

  /** Without threads, and with counters that only this process sees. */
  public RdmaEnvironment(
      NanoClock clock,
      LongSupplier random,
      Supplier<IdleStrategy> idle,
      int pageBytes,
      Path sysfs,
      Function<MemoryKind, Optional<DeviceMemoryProvider>> deviceMemory) {
    this(
        clock,
        random,
        idle,
        pageBytes,
        1,
        ProgressExecutor.Starter.NONE,
        sysfs,
        deviceMemory,
        CounterFile.unshared());
  }

  public RdmaEnvironment {
    if (Integer.bitCount(pageBytes) != 1) {
      throw new IllegalArgumentException("a page has a power of two of bytes, not " + pageBytes);
    }
  }

  /** The same with other device memory. */
  public RdmaEnvironment withDeviceMemory(
      Function<MemoryKind, Optional<DeviceMemoryProvider>> other) {
    return new RdmaEnvironment(
        clock, random, idle, pageBytes, processors, executors, sysfs, other, counters);
  }
}
