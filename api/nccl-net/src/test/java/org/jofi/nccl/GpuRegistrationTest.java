package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of a GPU is registered with the NICs, or not at all. */
class GpuRegistrationTest {
  private static final String REFUSAL = "fi_mr_regattr: Bad address";

  private final List<String> warnings = new ArrayList<>();
  private final List<Object> deregistered = new ArrayList<>();
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment out = arena.allocate(8);

  private final PluginLog log =
      new PluginLog() {
        @Override
        public void warn(String message) {
          warnings.add(message);
        }

        @Override
        public void info(String message) {}
      };

  @AfterEach
  void end() {
    arena.close();
  }

  private Registration registration(MemoryKind kind, boolean staged) {
    return FakeTransport.fake(
        Registration.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "memory" ->
                  kind == MemoryKind.HOST
                      ? Memory.host(0x7f00_0000_0000L, 64)
                      : Memory.device(kind, 0, 0x7f00_0000_0000L, 64);
              case "isStaged" -> staged;
              case "close" -> {
                deregistered.add(proxy);
                yield null;
              }
              case "path" ->
                  staged ? "staged; the NICs refused it: " + REFUSAL : "GPU direct via dma-buf";
              default -> throw new AssertionError(method.getName());
            });
  }

  private int register(Registration registration, int type) throws Throwable {
    RecvComm comm =
        FakeTransport.fake(
            RecvComm.class,
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "label" -> "receive communicator 3";
                  case "register" -> registration;
                  default -> throw new AssertionError(method.getName());
                });
    FakeTransport transport = new FakeTransport(List.of(comm));
    NetPlugin plugin = new NetPlugin(() -> transport, log);
    plugin.init(out.address());
    plugin.listen(
        out.get(ValueLayout.JAVA_LONG, 0), 0, arena.allocate(128).address(), out.address());
    plugin.accept(out.get(ValueLayout.JAVA_LONG, 0), out.address());
    long handle = out.get(ValueLayout.JAVA_LONG, 0);
    return (int)
        Upcall.REG_MR
            .guarded(plugin, log)
            .invokeExact(handle, 0x7f00_0000_0000L, 64L, type, 0, 0L, -1, out.address());
  }

  @ParameterizedTest
  @ValueSource(ints = {PropertiesStruct.CUDA, PropertiesStruct.DMA_BUF})
  void whatIsStagedIsRefusedWithTheReasonAndTheCure(int type) throws Throwable {
    Registration staged = registration(MemoryKind.CUDA, true);

    assertEquals(NcclResult.SYSTEM_ERROR, register(staged, type));

    assertEquals(0, out.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(1, deregistered.size());
    assertSame(staged, deregistered.getFirst());
    assertEquals(1, warnings.size(), warnings::toString);
    for (String word :
        List.of(REFUSAL, "receive communicator 3", "NCCL_NET_GDR_LEVEL=LOC", "nvidia_peermem")) {
      assertTrue(warnings.getFirst().contains(word), warnings::getFirst);
    }
  }

  @Test
  void whatTheNicsReachIsRegistered() throws Throwable {
    assertEquals(
        NcclResult.SUCCESS, register(registration(MemoryKind.CUDA, false), PropertiesStruct.CUDA));

    assertNotEquals(0, out.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(List.of(), deregistered);
    assertEquals(List.of(), warnings);
  }
}
