package org.jofi.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jofi.collectives.schedule.Algorithm;
import org.jofi.collectives.schedule.Algorithms;
import org.jofi.collectives.schedule.Operation;
import org.jofi.fabric.MemoryKind;
import org.jofi.rdma.RdmaTransport;
import org.jofi.runtime.Machine;
import org.jofi.simulated.SimulatedDevice;
import org.jofi.simulated.SimulatedDevices;
import org.jofi.simulated.SimulatedProvider;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.fault.FaultPlan;
import org.jofi.transport.FlushPolicy;
import org.jofi.transport.Memory;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operations on memory of pretended GPUs, beside the same ones on host memory. */
@Timeout(120)
class GpuOperandsTest {
  private static final int COUNT = 700;

  /** What a rank does with its GPU. */
  private interface Body {
    void run(Group group, SimulatedDevice gpu) throws Exception;
  }

  private static void run(
      String profile, int size, FaultPlan faults, FlushPolicy flushes, Body body) {
    SimulatedProvider network = new SimulatedProvider(Strictness.THROW, faults, 2);
    SimulatedDevices gpus = new SimulatedDevices(network.host());
    TransportOptions options =
        TransportOptions.builder()
            .provider("simulated-" + profile)
            .flushPolicy(flushes)
            .closeTimeout(Duration.ofSeconds(5))
            .build();
    Groups.run(
        size,
        () ->
            RdmaTransport.open(network, options, Machine.environment().withDeviceMemory(gpus::of)),
        (ranks, device) -> {
          try (SimulatedDevice gpu = gpus.open(0);
              Group group =
                  Group.connect(
                      ranks,
                      device,
                      Groups.OPTIONS.withChunkBytes(512).withWindow(3).withGpu(gpu))) {
            body.run(group, gpu);
          }
        });
    assertEquals(List.of(), network.violations());
  }

  private static Memory memory(long address, long bytes) {
    return Memory.device(MemoryKind.CUDA, 0, address, bytes);
  }

  private static MemorySegment numbers(long count, Random random) {
    MemorySegment numbers = Arena.ofAuto().allocate(Math.max(1, count) * Float.BYTES, 8);
    for (long i = 0; i < count; i++) {
      numbers.setAtIndex(ValueLayout.JAVA_FLOAT, i, random.nextFloat() - 0.5f);
    }
    return numbers;
  }

  private static Collective collective(Operation.Kind kind, int size) {
    return switch (kind) {
      case ALL_REDUCE -> Collective.allReduce(DataType.F32, Reduction.SUM, COUNT);
      case REDUCE_SCATTER -> Collective.reduceScatter(DataType.F32, Reduction.SUM, COUNT);
      case ALL_GATHER -> Collective.allGather(DataType.F32, COUNT);
      case BROADCAST -> Collective.broadcast(DataType.F32, COUNT, size - 1);
      case REDUCE -> Collective.reduce(DataType.F32, Reduction.SUM, COUNT, size - 1);
      case GATHER -> Collective.gather(DataType.F32, COUNT, 0);
      case SCATTER -> Collective.scatter(DataType.F32, COUNT, 0);
      case ALL_TO_ALL -> Collective.allToAll(DataType.F32, COUNT);
      case BARRIER -> Collective.barrier();
    };
  }

  /** The same bits as on host memory, by every algorithm; and again, as plans are for. */
  private static void everyOperation(Group group, SimulatedDevice gpu) {
    int size = group.size();
    for (Operation.Kind kind : Operation.Kind.values()) {
      Collective collective = collective(kind, size);
      for (Algorithm algorithm : Algorithms.of(collective.operation(), size)) {
        long inputs = collective.operation().input(group.rank(), size);
        long outputs = collective.operation().output(group.rank(), size);
        MemorySegment input = numbers(inputs, new Random(group.rank()));
        MemorySegment expected = numbers(outputs, new Random(7));
        try (Plan plan = group.plan(collective, algorithm.name(), input, expected)) {
          plan.run();
        }
        long from = gpu.allocate(input.byteSize());
        long to = gpu.allocate(expected.byteSize());
        gpu.copyFromHost(input.address(), from, input.byteSize());
        try (Plan plan =
            group.plan(
                collective,
                algorithm.name(),
                memory(from, input.byteSize()),
                memory(to, expected.byteSize()))) {
          for (int round = 0; round < 2; round++) {
            MemorySegment found = numbers(outputs, new Random(7));
            gpu.copyFromHost(found.address(), to, found.byteSize());
            plan.run();
            gpu.copyToHost(to, found.address(), found.byteSize());
            assertEquals(
                -1,
                found.mismatch(expected),
                "%s by %s, rank %d of %d"
                    .formatted(collective, algorithm.name(), group.rank(), size));
          }
        }
        gpu.free(from);
        gpu.free(to);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"efa, 2", "cxi, 3", "tcp, 4"})
  void everyOperationGivesTheBitsOfHostMemory(String profile, int size) {
    run(profile, size, FaultPlan.none(), FlushPolicy.AUTO, GpuOperandsTest::everyOperation);
  }

  @Test
  void whatTheGpuDoesNotSeeYetIsFlushed() {
    FaultPlan stale = FaultPlan.none().with(Fault.STALE_UNTIL_FLUSH, 1);
    run("efa", 3, stale, FlushPolicy.AUTO, GpuOperandsTest::everyOperation);
    // That the flushes are what makes it right.
    assertThrows(
        AssertionError.class,
        () -> run("efa", 2, stale, FlushPolicy.NEVER, GpuOperandsTest::everyOperation));
  }

  @Test
  void ranksWithHostMemoryTakePart() {
    run(
        "efa",
        2,
        FaultPlan.none(),
        FlushPolicy.AUTO,
        (group, gpu) -> {
          Collective sum = Collective.allReduce(DataType.F32, Reduction.SUM, COUNT);
          MemorySegment array = numbers(COUNT, new Random(group.rank()));
          long address = gpu.allocate(array.byteSize());
          if (group.rank() == 0) {
            gpu.copyFromHost(array.address(), address, array.byteSize());
            Memory memory = memory(address, array.byteSize());
            group.run(sum, memory, memory);
            gpu.copyToHost(address, array.address(), array.byteSize());
          } else {
            group.run(sum, array, array);
          }
          Random one = new Random(0);
          Random other = new Random(1);
          for (int i = 0; i < COUNT; i++) {
            float expected = (one.nextFloat() - 0.5f) + (other.nextFloat() - 0.5f);
            assertEquals(expected, array.getAtIndex(ValueLayout.JAVA_FLOAT, i));
          }
          gpu.free(address);
        });
  }

  @Test
  void whatAGpuDoesNotDoIsRefusedAndTheGroupGoesOn() {
    run(
        "efa",
        2,
        FaultPlan.none(),
        FlushPolicy.AUTO,
        (group, gpu) -> {
          long address = gpu.allocate(64);
          Memory memory = memory(address, 64);
          for (Collective none :
              List.of(
                  Collective.allReduce(DataType.F64, Reduction.SUM, 8),
                  Collective.allReduce(DataType.F32, Reduction.MAX, 8),
                  Collective.allReduce(DataType.F32, Reduction.AVERAGE, 8))) {
            IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> group.run(none, memory, memory));
            assertTrue(
                String.valueOf(refused.getMessage()).contains("only sums of F32"),
                refused::getMessage);
          }
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  group.run(
                      Collective.allGather(DataType.BYTE, 8),
                      Memory.device(MemoryKind.CUDA, 1, address, 64),
                      memory));
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  group.run(Collective.allReduce(DataType.F32, Reduction.SUM, 17), memory, memory));
          group.run(Collective.broadcast(DataType.BYTE, 64, 0), memory, memory);
          gpu.free(address);
        });
  }

  @Test
  void aDeviceThatTakesNoGpuMemorySaysSo() {
    Groups.simulated(
        1,
        Groups.OPTIONS,
        group -> {
          Memory memory = memory(4096, 64);
          assertThrows(
              TransportException.class,
              () -> group.run(Collective.broadcast(DataType.BYTE, 64, 0), memory, memory));
          assertTrue(group.isUsable());
        });
  }
}
