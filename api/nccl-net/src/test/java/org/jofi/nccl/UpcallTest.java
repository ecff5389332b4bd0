package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Nothing is thrown out of an upcall: it would end the process. */
class UpcallTest {
  private final List<String> warnings = new ArrayList<>();

  private final PluginLog log =
      new PluginLog() {
        @Override
        public void warn(String message) {
          warnings.add(message);
        }

        @Override
        public void info(String message) {}
      };

  static Stream<Arguments> thrown() {
    return Stream.of(
        Arguments.of(new IllegalStateException("odd"), NcclResult.INTERNAL_ERROR),
        Arguments.of(new NullPointerException(), NcclResult.INTERNAL_ERROR),
        Arguments.of(new StackOverflowError(), NcclResult.INTERNAL_ERROR),
        Arguments.of(new OutOfMemoryError("heap"), NcclResult.SYSTEM_ERROR),
        Arguments.of(new AssertionError("odd"), NcclResult.INTERNAL_ERROR),
        Arguments.of(new IllegalArgumentException("odd"), NcclResult.INVALID_ARGUMENT),
        Arguments.of(new FabricUnavailableException("no library"), NcclResult.SYSTEM_ERROR),
        Arguments.of(
            new TransportException(FailureCause.UNAVAILABLE, "no NIC"), NcclResult.SYSTEM_ERROR),
        Arguments.of(new TransportException(FailureCause.REFUSED, "no"), NcclResult.REMOTE_ERROR),
        Arguments.of(
            new TransportException(FailureCause.PEER_LOST, "gone"), NcclResult.REMOTE_ERROR));
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void whatIsThrownIsAResultAndTold(Throwable failure, int result) throws Throwable {
    NetPlugin plugin =
        new NetPlugin(
            () -> {
              throw unchecked(failure);
            },
            log);
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle init = Upcall.INIT.guarded(plugin, log);
      assertEquals(result, (int) init.invokeExact(arena.allocate(8).address()));
    }

    assertEquals(1, warnings.size());
    String told = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    assertTrue(warnings.getFirst().startsWith("init: "), warnings::getFirst);
    assertTrue(warnings.getFirst().contains(told), warnings::getFirst);
  }

  @Test
  void aStackThatIsFullIsAResult() throws Throwable {
    NetPlugin plugin =
        new NetPlugin(
            () -> {
              throw new AssertionError("" + depth(0));
            },
            log);
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle init = Upcall.INIT.guarded(plugin, log);
      assertEquals(NcclResult.INTERNAL_ERROR, (int) init.invokeExact(arena.allocate(8).address()));
    }
  }

  @Test
  void aLogThatFailsIsAResult() throws Throwable {
    PluginLog broken =
        new PluginLog() {
          @Override
          public void warn(String message) {
            throw new IllegalStateException("no log");
          }

          @Override
          public void info(String message) {
            throw new IllegalStateException("no log");
          }
        };
    NetPlugin plugin =
        new NetPlugin(
            () -> {
              throw new IllegalStateException("odd");
            },
            broken);
    MethodHandle test = Upcall.TEST.guarded(plugin, broken);

    assertEquals(NcclResult.INTERNAL_ERROR, (int) test.invokeExact(5L, 0L, 0L));
  }

  @ParameterizedTest
  @EnumSource
  void everyFunctionIsThere(Upcall upcall) throws ReflectiveOperationException {
    NetPlugin plugin =
        new NetPlugin(
            () -> {
              throw new IllegalStateException("odd");
            },
            log);
    assertEquals(
        upcall.descriptor().argumentLayouts().size(),
        upcall.guarded(plugin, log).type().parameterCount());
  }

  @ParameterizedTest
  @EnumSource
  void everyFailureHasAResult(FailureCause cause) {
    assertTrue(NcclResult.of(cause) != NcclResult.SUCCESS);
    assertTrue(NcclResult.ofRequest(cause) != NcclResult.SUCCESS);
  }

  private static int depth(int from) {
    return from < Integer.MAX_VALUE ? depth(from + 1) + 1 : from;
  }

  private static RuntimeException unchecked(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    return (RuntimeException) failure;
  }
}
