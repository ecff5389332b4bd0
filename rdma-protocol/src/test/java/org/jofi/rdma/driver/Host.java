package org.jofi.rdma.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.mr.DeviceRegistrations;
import org.jofi.mr.registration.CacheLimits;
import org.jofi.mr.registration.RequestNames;
import org.jofi.rdma.nic.ArrivalSink;
import org.jofi.rdma.schedule.RailRates;
import org.jofi.simulated.Simulation;
import org.jofi.transport.Failure;
import org.jofi.transport.RailChange;

/** A host with an endpoint over all its NICs, and what arrived there. */
public final class Host implements AutoCloseable, ArrivalSink {
  private static final int MIN_STRIPE = 512;

  final List<Fabric> fabrics = new ArrayList<>();
  final List<Domain> domains = new ArrayList<>();
  final List<byte[]> messages = new ArrayList<>();
  final List<Long> immediates = new ArrayList<>();
  final List<Failure> breaks = new ArrayList<>();
  private final List<RailChange> told = new ArrayList<>();
  private final RailChanges changes = new RailChanges(told::add);

  /** Where memory is registered. */
  public final DeviceRegistrations device;

  /** The endpoint. */
  public final EndpointDriver endpoint;

  /** Where arrivals go; the host's own lists until it is set. */
  public ArrivalSink sink = new Kept();

  public Host(Simulation simulation, int index, int rails, int controlRails) {
    this(
        simulation.host(index).provider(),
        simulation.host(index).provider().discover(FabricHints.any()).subList(0, rails),
        index,
        controlRails,
        simulation::nanoTime,
        simulation::idle);
  }

  /** One over any fabric. */
  public Host(
      FabricProvider provider,
      List<FabricInfo> rails,
      int index,
      int controlRails,
      NanoClock clock,
      Runnable pause) {
    for (FabricInfo info : rails) {
      Fabric fabric = provider.open(info);
      fabrics.add(fabric);
      domains.add(fabric.openDomain());
    }
    device =
        new DeviceRegistrations(
            domains,
            CacheLimits.DEFAULT,
            clock,
            RequestNames.NONE,
            new SplittableRandom(1)::nextLong);
    endpoint =
        new EndpointDriver(
            "endpoint " + index,
            domains,
            device,
            new EndpointSettings(
                1L + index,
                controlRails,
                256,
                2048,
                0,
                4096,
                clock,
                () -> idle(pause),
                1_000_000_000L,
                () -> new RailRates(new long[domains.size()]),
                MIN_STRIPE,
                changes,
                EndpointCounters.unshared(domains.size())),
            this);
  }

  private static IdleStrategy idle(Runnable pause) {
    return new IdleStrategy() {
      @Override
      public void idle(int workCount) {
        if (workCount == 0) {
          pause.run();
        }
      }

      @Override
      public void idle() {
        pause.run();
      }

      @Override
      public void reset() {}
    };
  }

  @Override
  public void immediate(long data) {
    sink.immediate(data);
  }

  @Override
  public void message(MemorySegment memory, long lengthBytes) {
    sink.message(memory, lengthBytes);
  }

  @Override
  public void broken(Failure why) {
    sink.broken(why);
  }

  @Override
  public void railClosed() {
    sink.railClosed();
  }

  /** Keeps what arrives. */
  private final class Kept implements ArrivalSink {
    @Override
    public void immediate(long data) {
      immediates.add(data);
    }

    @Override
    public void message(MemorySegment memory, long lengthBytes) {
      messages.add(memory.asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void broken(Failure why) {
      breaks.add(why);
    }
  }

  /** Drives the endpoint once. */
  public int progress() {
    return endpoint.progress();
  }

  /** The rails that were lost, or came back, in order. */
  public List<RailChange> railChanges() {
    if (changes.isDue()) {
      changes.tell();
    }
    return told;
  }

  void locked(Consumer<EndpointDriver> task) {
    task.accept(endpoint);
  }

  /**
   * Whether nothing is out that is no receive. What is acknowledged by the other side's program
   * needs that to be polled.
   */
  public boolean isQuiet() {
    int out = 0;
    for (int rail = 0; rail < endpoint.dataCount(); rail++) {
      out += endpoint.data(rail).operationsOut();
    }
    for (int rail = 0; rail < endpoint.controlCount(); rail++) {
      out += endpoint.control(rail).operationsOut();
    }
    return out == 0;
  }

  @Override
  public void close() {
    endpoint.close();
    closeDevice();
  }

  /** Closes what is below the endpoint, which was closed. */
  public void closeDevice() {
    device.close();
    domains.forEach(Domain::close);
    fabrics.forEach(Fabric::close);
  }
}
