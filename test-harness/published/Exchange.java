package exchange;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jofi.async.Driver;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.Result;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/**
 * One of two processes: {@code PROVIDER} receives a message and prints, in hexadecimal, the handle that the other one is
 * given; {@code PROVIDER HANDLE} sends it, through a driver.
 */
public final class Exchange {
  private static final int TAG = 7;
  private static final long INTEGERS = 1 << 18;
  private static final long PATIENCE_SECONDS = 60;

  private Exchange() {}

  public static void main(String[] arguments) {
    var options = TransportOptions.builder().provider(arguments[0]).build();
    try (var transport = Transport.open(options);
        var arena = transport.openArena()) {
      var device = transport.devices().getFirst();
      var memory = arena.allocate(ValueLayout.JAVA_INT, INTEGERS);
      if (arguments.length == 1) {
        receive(device, memory);
      } else {
        send(device, ConnectHandle.decode(HexFormat.of().parseHex(arguments[1])), memory);
      }
    }
  }

  private static void receive(Device device, MemorySegment memory) {
    try (var listener = device.listen()) {
      System.out.println(HexFormat.of().formatHex(listener.handle().encode()));
      try (var from = patiently(listener::accept)) {
        finish(from, from.irecv(memory, TAG));
      }
    }
    for (long i = 0; i < INTEGERS; i++) {
      if (memory.getAtIndex(ValueLayout.JAVA_INT, i) != value(i)) {
        throw new IllegalStateException("integer " + i + " is wrong");
      }
    }
    System.out.println("received " + memory.byteSize() + " bytes");
  }

  private static void send(Device device, ConnectHandle handle, MemorySegment memory) {
    for (long i = 0; i < INTEGERS; i++) {
      memory.setAtIndex(ValueLayout.JAVA_INT, i, value(i));
    }
    try (var driver = Driver.start(device)) {
      var to = driver.connect(handle).join();
      to.send(memory, TAG).await(Duration.ofSeconds(PATIENCE_SECONDS));
    }
    System.out.println("sent " + memory.byteSize() + " bytes");
  }

  private static int value(long index) {
    return (int) (index * 0x9E3779B9L);
  }

  private static void finish(Comm comm, long request) {
    long result =
        patiently(
            () -> {
              long now = comm.test(request);
              return Result.isOver(now) ? now : null;
            });
    Result.check(comm, request, result);
  }

  private static <T> T patiently(Supplier<T> poll) {
    long start = System.nanoTime();
    for (T found = poll.get(); ; found = poll.get()) {
      if (found != null) {
        return found;
      }
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
        throw new IllegalStateException("nothing came of it within " + PATIENCE_SECONDS + " s");
      }
      Thread.yield();
    }
  }
}
