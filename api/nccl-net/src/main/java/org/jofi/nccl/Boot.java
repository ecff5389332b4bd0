package org.jofi.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jofi.transport.Transport;

/**
 * The method that the shared library calls first, once per process. It passes a struct:
 *
 * <pre>
 *  0 i32 version    4 i32 number of functions    8 its logging function    16 its table of functions
 * 24 i32 length of the text    28 unused    32 text for an error, with a 0 at the end
 * </pre>
 */
final class Boot {
  private static final int VERSION = 1;
  private static final long FUNCTIONS = 4;
  private static final long LOG = 8;
  private static final long TABLE = 16;
  private static final long TEXT_BYTES = 24;
  private static final long TEXT = 32;

  private Boot() {}

  /**
   * Fills in the library's table of functions. Called through JNI.
   *
   * @param address of the struct
   * @return 0, or another number if it failed, with the reason in the struct
   */
  @SuppressWarnings("unused")
  private static int boot(long address) {
    try {
      checkVersion(address);
      // The first look at the environment takes SIGCHLD from the host program: it initializes
      // ProcessImpl. The library gives the signal back when this returns.
      System.getenv();
      PluginLog log = new ShimLog(RawMemory.getLong(address + LOG));
      DeviceWarmUps warmUps = new DeviceWarmUps(log);
      NetPlugin plugin =
          new NetPlugin(() -> open(warmUps, log), log, CommGate.USUAL_PATIENCE, warmUps);
      fill(RawMemory.getLong(address + TABLE), plugin, log);
      return 0;
    } catch (Throwable failed) {
      putText(address, failed.toString());
      return 1;
    }
  }

  private static Transport open(DeviceWarmUps warmUps, PluginLog log) {
    PluginVariables.unknown(System.getenv()).forEach(log::warn);
    AddressSpace.warning().ifPresent(log::warn);
    warmUps.allow(PluginOptions.warmUp(System.getenv()));
    return Transport.open(
        PluginOptions.from(System.getenv()).toBuilder().railListener(new RailLog(log)).build());
  }

  private static void checkVersion(long address) {
    int version = RawMemory.getInt(address);
    int functions = RawMemory.getInt(address + FUNCTIONS);
    if (version != VERSION || functions != Upcall.values().length) {
      throw new IllegalStateException(
          "the library speaks version %d with %d functions, its jars version %d with %d: take both from one build"
              .formatted(version, functions, VERSION, Upcall.values().length));
    }
  }

  /**
   * Writes the address of an upcall stub for each function. The stubs live as long as the process.
   */
  @SuppressWarnings("restricted")
  private static void fill(long table, NetPlugin plugin, PluginLog log)
      throws ReflectiveOperationException {
    Linker linker = Linker.nativeLinker();
    long slot = table;
    for (Upcall upcall : Upcall.values()) {
      MemorySegment stub =
          linker.upcallStub(upcall.guarded(plugin, log), upcall.descriptor(), Arena.global());
      RawMemory.putLong(slot, stub.address());
      slot += ValueLayout.ADDRESS.byteSize();
    }
  }

  private static void putText(long address, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int room = RawMemory.getInt(address + TEXT_BYTES) - 1;
    byte[] cut = Arrays.copyOf(bytes, Math.min(bytes.length, room) + 1);
    cut[cut.length - 1] = 0;
    RawMemory.slice(address + TEXT, cut.length).copyFrom(MemorySegment.ofArray(cut));
  }
}
