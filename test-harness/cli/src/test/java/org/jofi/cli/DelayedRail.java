package org.jofi.cli;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jofi.cli.soak.MachineCommand;
import org.jofi.cli.soak.RailNetwork;

/**
 * Holds back each frame of a rail at one rank, in both directions, for so long: what netem does,
 * which not every kernel has. The rail's interface becomes a TAP device, and this process carries
 * frames between it and a second one, which is bridged to what the rail was.
 *
 * @see <a href="https://docs.kernel.org/networking/tuntap.html">Universal TUN/TAP device driver</a>
 */
final class DelayedRail implements AutoCloseable {
  private static final int O_RDWR = 2;
  private static final int O_NONBLOCK = 04000;
  private static final long TUNSETIFF = 0x400454caL;
  private static final short IFF_TAP = 2;
  private static final short IFF_NO_PI = 0x1000;
  private static final int IFREQ_BYTES = 40;
  private static final int IFREQ_FLAGS = 16;
  private static final int POLLIN = 1;
  private static final int POLL_MILLIS = 100;
  private static final int FRAME_BYTES = 9216;
  private static final int MOST_HELD = 16384;

  private static final int NOT_VARIADIC = -1;

  private static final MethodHandle OPEN = call("open", JAVA_INT, 2, ADDRESS, JAVA_INT);
  private static final MethodHandle IOCTL =
      call("ioctl", JAVA_INT, 2, JAVA_INT, JAVA_LONG, ADDRESS);
  private static final MethodHandle POLL =
      call("poll", JAVA_INT, NOT_VARIADIC, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle READ =
      call("read", JAVA_LONG, NOT_VARIADIC, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle WRITE =
      call("write", JAVA_LONG, NOT_VARIADIC, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle CLOSE = call("close", JAVA_INT, NOT_VARIADIC, JAVA_INT);

  private record Held(ByteBuffer frame, long dueAt) {}

  private final long delayNanos;
  private final int outer;
  private final int inner;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong carried = new AtomicLong();
  private volatile boolean ends;

  /** Before anything uses the rail at that rank. */
  DelayedRail(RailNetwork network, int rank, int rail, int delayMillis) throws Exception {
    delayNanos = TimeUnit.MILLISECONDS.toNanos(delayMillis);
    String name = "rail" + rail;
    String cable = "cable" + rail;
    String bridge = "bridge" + rail;
    String within = String.join(" ", network.moving(rank));
    String address =
        MachineCommand.run(within + " ip -4 -o addr show dev " + name)
            .replaceFirst("(?s).*inet (\\S+) .*", "$1");
    MachineCommand.run(within + " ip link set %s down".formatted(name));
    MachineCommand.run(within + " ip addr flush dev " + name);
    MachineCommand.run(within + " ip link set %s name %s".formatted(name, cable));
    MachineCommand.run(within + " ip link add %s type bridge".formatted(bridge));
    outer = tap(within, name);
    inner = tap(within, "inner" + rail);
    for (String quiet : List.of(name, bridge, "inner" + rail)) {
      MachineCommand.run(within + " sysctl -qw net.ipv6.conf.%s.disable_ipv6=1".formatted(quiet));
      MachineCommand.run(within + " ip link set %s up mtu 9000".formatted(quiet));
    }
    MachineCommand.run(within + " ip link set inner%d master %s".formatted(rail, bridge));
    MachineCommand.run(within + " ip link set %s up mtu 9000 master %s".formatted(cable, bridge));
    MachineCommand.run(within + " ip addr add %s dev %s".formatted(address, name));
    carry(outer, inner);
    carry(inner, outer);
  }

  /** Frames that it carried until now, in both directions. */
  long carried() {
    return carried.get();
  }

  @SuppressWarnings("restricted")
  private static MethodHandle call(
      String name, MemoryLayout result, int variadicFrom, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    Linker.Option[] options =
        variadicFrom == NOT_VARIADIC
            ? new Linker.Option[0]
            : new Linker.Option[] {Linker.Option.firstVariadicArg(variadicFrom)};
    FunctionDescriptor descriptor = FunctionDescriptor.of(result, arguments);
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, options);
  }

  /** Makes a device, and moves it to where it is to be. */
  private static int tap(String within, String name) throws Exception {
    String temporary = "jofi%d".formatted(System.nanoTime() % 10_000_000_000L);
    int device;
    try (Arena arena = Arena.ofConfined()) {
      device = (int) invoke(OPEN, arena.allocateFrom("/dev/net/tun"), O_RDWR | O_NONBLOCK);
      if (device < 0) {
        throw new IOException("/dev/net/tun cannot be opened");
      }
      MemorySegment request = arena.allocate(IFREQ_BYTES);
      request.setString(0, temporary);
      request.set(JAVA_SHORT, IFREQ_FLAGS, (short) (IFF_TAP | IFF_NO_PI));
      if ((int) invoke(IOCTL, device, TUNSETIFF, request) < 0) {
        throw new IOException("no TAP device can be made");
      }
    }
    String space = within.substring(within.lastIndexOf(' ') + 1);
    MachineCommand.run("ip link set %s netns %s name %s".formatted(temporary, space, name));
    return device;
  }

  private static Object invoke(MethodHandle handle, Object... arguments) {
    try {
      return handle.invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private void carry(int from, int to) {
    BlockingQueue<Held> held = new ArrayBlockingQueue<>(MOST_HELD);
    start(() -> take(from, held));
    start(() -> give(to, held));
  }

  private void start(Runnable task) {
    Thread thread = new Thread(task, "delayed-rail");
    thread.setDaemon(true);
    thread.start();
    threads.add(thread);
  }

  private void take(int from, BlockingQueue<Held> held) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment poll = arena.allocate(8, 4);
      MemorySegment frame = arena.allocate(FRAME_BYTES);
      while (!ends) {
        poll.set(JAVA_INT, 0, from);
        poll.set(JAVA_SHORT, 4, (short) POLLIN);
        if ((int) POLL.invokeExact(poll, 1L, POLL_MILLIS) <= 0) {
          continue;
        }
        long bytes = (long) READ.invokeExact(from, frame, (long) FRAME_BYTES);
        if (bytes > 0) {
          ByteBuffer copy = ByteBuffer.wrap(frame.asSlice(0, bytes).toArray(JAVA_BYTE));
          // What finds no place is lost, as in a real queue.
          held.offer(new Held(copy, System.nanoTime() + delayNanos));
        }
      }
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private void give(int to, BlockingQueue<Held> held) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment frame = arena.allocate(FRAME_BYTES);
      while (!ends) {
        Held next = held.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (next == null) {
          continue;
        }
        for (long left; (left = next.dueAt() - System.nanoTime()) > 0; ) {
          TimeUnit.NANOSECONDS.sleep(left);
        }
        frame.copyFrom(MemorySegment.ofBuffer(next.frame()));
        long written = (long) WRITE.invokeExact(to, frame, (long) next.frame().remaining());
        if (written > 0) {
          carried.incrementAndGet();
        }
      }
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    ends = true;
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    invoke(CLOSE, outer);
    invoke(CLOSE, inner);
  }
}
