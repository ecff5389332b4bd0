package org.jofi.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Logs through the shared library, because NCCL's logger takes variable arguments and has to be
 * called from C.
 */
final class ShimLog implements PluginLog {
  private static final int WARN = 2;
  private static final int INFO = 3;

  /** NCCL_INIT and NCCL_NET. */
  private static final long SUBSYSTEMS = 0x11;

  private final MethodHandle call;

  /**
   * @param function the address of the library's function
   */
  @SuppressWarnings("restricted")
  ShimLog(long function) {
    call =
        Linker.nativeLinker()
            .downcallHandle(
                MemorySegment.ofAddress(function),
                FunctionDescriptor.ofVoid(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
  }

  @Override
  public void warn(String message) {
    log(WARN, message);
  }

  @Override
  public void info(String message) {
    log(INFO, message);
  }

  private void log(int level, String message) {
    try (Arena arena = Arena.ofConfined()) {
      call.invokeExact(level, SUBSYSTEMS, arena.allocateFrom(message).address());
    } catch (RuntimeException | Error failed) {
      throw failed;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }
}
