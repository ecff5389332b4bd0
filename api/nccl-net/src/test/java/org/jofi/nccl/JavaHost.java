package org.jofi.nccl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A program in Java that loads the plugin's library as NCCL does, and sends to itself: run by
 * {@link JavaHostTest} in a JVM of its own, with nothing of jofi's on its class path. What the
 * plugin logs goes to standard output.
 */
@SuppressWarnings("restricted")
final class JavaHost {
  /** A function of {@code ncclNet_v11_t}: the number of its slot, and what it takes. */
  private record Function(String name, int slot, List<ValueLayout> parameters) {
    Function(String name, int slot, ValueLayout... parameters) {
      this(name, slot, List.of(parameters));
    }

    MethodHandle in(MemorySegment table) {
      return Linker.nativeLinker()
          .downcallHandle(
              table.getAtIndex(ADDRESS, slot),
              FunctionDescriptor.of(JAVA_INT, parameters.toArray(ValueLayout[]::new)));
    }
  }

  private static final Function INIT =
      new Function("init", 1, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS);
  private static final Function DEVICES = new Function("devices", 2, ADDRESS);
  private static final Function GET_PROPERTIES =
      new Function("getProperties", 3, JAVA_INT, ADDRESS);
  private static final Function LISTEN =
      new Function("listen", 4, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
  private static final Function CONNECT =
      new Function("connect", 5, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
  private static final Function ACCEPT = new Function("accept", 6, ADDRESS, ADDRESS, ADDRESS);
  private static final Function REG_MR =
      new Function("regMr", 7, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS);
  private static final Function DEREG_MR = new Function("deregMr", 9, ADDRESS, ADDRESS);
  private static final Function ISEND =
      new Function("isend", 10, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
  private static final Function IRECV =
      new Function(
          "irecv", 11, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS);
  private static final Function TEST = new Function("test", 13, ADDRESS, ADDRESS, ADDRESS);
  private static final Function CLOSE_SEND = new Function("closeSend", 14, ADDRESS);
  private static final Function CLOSE_RECV = new Function("closeRecv", 15, ADDRESS);
  private static final Function CLOSE_LISTEN = new Function("closeListen", 16, ADDRESS);
  private static final Function FINALIZE = new Function("finalize", 20, ADDRESS);

  private static final long TABLE_BYTES = 176;
  private static final long PROPERTIES_BYTES = 112;
  private static final long HANDLE_BYTES = 128;
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int HOST_MEMORY = 1;
  private static final int TAG = 7;

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment table;

  private JavaHost(Path library) {
    table =
        SymbolLookup.libraryLookup(library, Arena.global())
            .find("ncclNetPlugin_v11")
            .orElseThrow()
            .reinterpret(TABLE_BYTES);
  }

  /**
   * Exits with 0 if all bytes arrived.
   *
   * @param arguments the library; and "exit" to end with the connection as it is
   */
  public static void main(String[] arguments) throws Throwable {
    new JavaHost(Path.of(arguments[0])).run(arguments.length > 1);
  }

  private void run(boolean leavesAllOpen) throws Throwable {
    MemorySegment context = pointer();
    call(INIT, context, 1L, arena.allocate(JAVA_INT), logger(), MemorySegment.NULL);
    MemorySegment devices = arena.allocate(JAVA_INT);
    call(DEVICES, devices);
    call(GET_PROPERTIES, 0, arena.allocate(PROPERTIES_BYTES));

    MemorySegment handle = arena.allocate(HANDLE_BYTES);
    MemorySegment listener = pointer();
    call(LISTEN, in(context), 0, handle, listener);
    MemorySegment sender = pointer();
    MemorySegment receiver = pointer();
    long start = System.nanoTime();
    while (isNull(sender) || isNull(receiver)) {
      within(start, "the connection");
      if (isNull(sender)) {
        call(CONNECT, in(context), 0, handle, sender, pointer());
      }
      if (isNull(receiver)) {
        call(ACCEPT, in(listener), receiver, pointer());
      }
    }
    for (int size : new int[] {0, 8, 5_000, 1 << 20}) {
      transfer(in(sender), in(receiver), size);
    }
    System.out.printf("transferred by device 1 of %d%n", devices.get(JAVA_INT, 0));
    if (!leavesAllOpen) {
      call(CLOSE_SEND, in(sender));
      call(CLOSE_RECV, in(receiver));
      call(CLOSE_LISTEN, in(listener));
      call(FINALIZE, in(context));
    }
  }

  private void transfer(MemorySegment sender, MemorySegment receiver, int size) throws Throwable {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    MemorySegment from = arena.allocate(Math.max(size, 1));
    MemorySegment to = arena.allocate(Math.max(size, 1));
    MemorySegment.copy(bytes, 0, from, JAVA_BYTE, 0, size);
    MemorySegment source = register(sender, from);
    MemorySegment target = register(receiver, to);

    MemorySegment data = arena.allocateFrom(ADDRESS, to);
    MemorySegment sizes = arena.allocateFrom(JAVA_LONG, size);
    MemorySegment tags = arena.allocateFrom(JAVA_INT, TAG);
    MemorySegment regions = arena.allocateFrom(ADDRESS, target);
    MemorySegment none = arena.allocate(ADDRESS);
    MemorySegment received = pointer();
    MemorySegment sent = pointer();
    long start = System.nanoTime();
    while (isNull(received)) {
      within(start, "a receive to be posted");
      call(IRECV, receiver, 1, data, sizes, tags, regions, none, received);
    }
    while (isNull(sent)) {
      within(start, "a send to be posted");
      call(ISEND, sender, from, (long) size, TAG, source, MemorySegment.NULL, sent);
    }
    boolean isSent = false;
    boolean isReceived = false;
    while (!isSent || !isReceived) {
      within(start, "a message");
      isSent = isSent || isOver(in(sent), size);
      isReceived = isReceived || isOver(in(received), size);
    }
    if (MemorySegment.mismatch(from, 0, size, to, 0, size) != -1) {
      throw new IllegalStateException("wrong bytes of " + size);
    }
    call(DEREG_MR, sender, source);
    call(DEREG_MR, receiver, target);
  }

  private MemorySegment register(MemorySegment comm, MemorySegment memory) throws Throwable {
    MemorySegment region = pointer();
    call(REG_MR, comm, memory, memory.byteSize(), HOST_MEMORY, region);
    return in(region);
  }

  private boolean isOver(MemorySegment request, int size) throws Throwable {
    MemorySegment done = arena.allocate(JAVA_INT);
    MemorySegment length = arena.allocate(JAVA_INT);
    call(TEST, request, done, length);
    if (done.get(JAVA_INT, 0) == 0) {
      return false;
    }
    if (length.get(JAVA_INT, 0) != size) {
      throw new IllegalStateException("%d bytes, not %d".formatted(length.get(JAVA_INT, 0), size));
    }
    return true;
  }

  private void call(Function function, Object... arguments) throws Throwable {
    int result = (int) function.in(table).invokeWithArguments(arguments);
    if (result != 0) {
      throw new IllegalStateException(function.name() + " = " + result);
    }
  }

  private static void within(long start, String what) {
    if (System.nanoTime() - start > PATIENCE_NS) {
      throw new IllegalStateException("waited too long for " + what);
    }
    Thread.yield();
  }

  private MemorySegment pointer() {
    return arena.allocate(ADDRESS);
  }

  private static MemorySegment in(MemorySegment pointer) {
    return pointer.get(ADDRESS, 0);
  }

  private static boolean isNull(MemorySegment pointer) {
    return in(pointer).equals(MemorySegment.NULL);
  }

  /** The plugin calls it with one argument behind the format. */
  private static MemorySegment logger() throws ReflectiveOperationException {
    MethodType type =
        MethodType.methodType(
            void.class,
            int.class,
            long.class,
            MemorySegment.class,
            int.class,
            MemorySegment.class,
            MemorySegment.class);
    return Linker.nativeLinker()
        .upcallStub(
            MethodHandles.lookup().findStatic(JavaHost.class, "log", type),
            FunctionDescriptor.ofVoid(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_INT, ADDRESS, ADDRESS),
            Arena.global());
  }

  @SuppressWarnings("unused") // through a method handle
  private static void log(
      int level,
      long subsystems,
      MemorySegment where,
      int line,
      MemorySegment format,
      MemorySegment text) {
    System.out.println(level + " " + text.reinterpret(Long.MAX_VALUE).getString(0));
  }
}
