package org.jofi.libfabric;

import org.jofi.allocation.Allocation;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.PostFlags;
import org.jofi.fabric.RegionRequest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The data path allocates nothing once it is compiled. */
@Timeout(120)
class NoAllocationTest {
  /** Of each kind, between two looks at what was allocated. */
  private static final int OPERATIONS = 1_000;

  private static final long PATIENCE_NANOS = 20_000_000_000L;

  private static final class Counter implements CompletionQueue.Sink {
    private int completions;

    @Override
    public void completed(int context, long flags, long lengthBytes, long data) {
      completions++;
    }

    @Override
    public void failed(CompletionError error) {
      throw error.toException();
    }
  }

  private final Counter counter = new Counter();

  @ParameterizedTest
  @MethodSource("org.jofi.libfabric.Loopback#providers")
  void postingAndPolling(String provider) {
    if (provider.equals("sockets")) {
      // Hundreds of microseconds an operation, and its calls are the same ones.
      exercise(provider, OPERATIONS / 20);
    } else {
      exercise(provider, OPERATIONS);
    }
  }

  private void exercise(String provider, int operations) {
    try (Loopback loopback = new Loopback(provider)) {
      try (MemoryRegion region =
          loopback.domain.register(
              RegionRequest.host(loopback.memory, Access.ALL).withRequestedKey(5))) {
        Allocation.assertNone(() -> operate(loopback, region, operations));
      }
    }
  }

  private void operate(Loopback loopback, MemoryRegion region, int times) {
    long address = loopback.memory.address();
    long descriptor = region.descriptor();
    long target = loopback.fabric.info().addressing() == Addressing.VIRTUAL ? address + 8192 : 8192;
    long key = region.key();
    for (int i = 0; i < times; i++) {
      while (loopback.endpoint.recv(address + 4096, 64, descriptor, AddressVector.ANY, 0)
          == -FabricErrno.EAGAIN) {
        poll(loopback);
      }
      while (loopback.endpoint.send(address, 8, descriptor, loopback.self, 1)
          == -FabricErrno.EAGAIN) {
        poll(loopback);
      }
      while (loopback.endpoint.writeData(
              address, 8, descriptor, i, loopback.self, target, key, 2, PostFlags.NONE)
          == -FabricErrno.EAGAIN) {
        poll(loopback);
      }
      while (loopback.endpoint.write(
              address, 8, descriptor, loopback.self, target, key, 3, PostFlags.DELIVERY_COMPLETE)
          == -FabricErrno.EAGAIN) {
        poll(loopback);
      }
      while (loopback.endpoint.read(address, 8, descriptor, loopback.self, target, key, 4)
          == -FabricErrno.EAGAIN) {
        poll(loopback);
      }
      // Two for the message, two for the write with data, one each for the others.
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (counter.completions < 6) {
        poll(loopback);
        if (System.nanoTime() > deadline) {
          throw new AssertionError("only %d of 6 completions".formatted(counter.completions));
        }
      }
      counter.completions = 0;
    }
  }

  private void poll(Loopback loopback) {
    loopback.queue.poll(counter, 16);
  }
}
