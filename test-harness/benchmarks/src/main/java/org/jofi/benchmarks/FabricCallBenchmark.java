package org.jofi.benchmarks;

import java.util.concurrent.TimeUnit;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.CompletionError;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.PostFlags;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Data calls of the libfabric provider, by one endpoint that talks to itself. Run with {@code -prof
 * gc}: none of them may allocate.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FabricCallBenchmark {
  private static final int BATCH = 16;

  /** As the library names it: 1.17 has net, 2.x has tcp. */
  @Param({"tcp;ofi_rxm", "shm"})
  public String provider = "";

  private LoopbackNic nic;
  private long address;
  private long remoteAddress;
  private long self;
  private final Counter counter = new Counter();

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

  /** Opens the endpoint and lets it connect to itself. */
  @Setup(Level.Trial)
  public void open() {
    nic = new LoopbackNic(provider);
    address = nic.memory().address();
    remoteAddress = nic.info().addressing() == Addressing.VIRTUAL ? address + 8192 : 8192;
    self = nic.peers().insert(nic.endpoint().address());
    sendRecv();
  }

  /** Closes it. */
  @TearDown(Level.Trial)
  public void close() {
    nic.close();
  }

  /** A poll that finds nothing. */
  @Benchmark
  public int emptyPoll() {
    return nic.queue().poll(counter, BATCH);
  }

  /** A message of 8 bytes to itself, both completions polled. */
  @Benchmark
  public void sendRecv() {
    check(nic.endpoint().recv(address + 4096, 64, nic.descriptor(), AddressVector.ANY, 1));
    int code;
    while ((code = nic.endpoint().send(address, 8, nic.descriptor(), self, 0))
        == -FabricErrno.EAGAIN) {
      nic.queue().poll(counter, BATCH);
    }
    check(code);
    await(2);
  }

  /** A write of 8 bytes with immediate data to itself, both completions polled. */
  @Benchmark
  public void writeData() {
    int code;
    while ((code =
            nic.endpoint()
                .writeData(
                    address,
                    8,
                    nic.descriptor(),
                    7,
                    self,
                    remoteAddress,
                    nic.key(),
                    0,
                    PostFlags.NONE))
        == -FabricErrno.EAGAIN) {
      nic.queue().poll(counter, BATCH);
    }
    check(code);
    await(2);
  }

  private static void check(int code) {
    if (code != 0) {
      throw new IllegalStateException("post returned -" + FabricErrno.name(-code));
    }
  }

  private void await(int completions) {
    while (counter.completions < completions) {
      nic.queue().poll(counter, BATCH);
    }
    counter.completions = 0;
  }
}
