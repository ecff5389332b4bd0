package org.jofi.benchmarks;

import java.util.Set;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricLimits;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** A NIC that registers at once and posts nothing, so that a benchmark sees only its caller. */
final class InstantNic implements Domain {
  private final FabricInfo info;
  private long next;

  InstantNic(String name) {
    info =
        FabricInfo.builder("instant", "none", name)
            .mrModes(Set.of(MrMode.LOCAL, MrMode.VIRT_ADDR, MrMode.PROV_KEY))
            .limits(new FabricLimits(8, 4, 64, 1 << 30, 64, 64, 1, 0))
            .build();
  }

  @Override
  public FabricInfo info() {
    return info;
  }

  @Override
  public MemoryRegion register(RegionRequest request) {
    return new InstantRegion(request, ++next);
  }

  @Override
  public Endpoint openEndpoint(EndpointRequest request) {
    throw new UnsupportedOperationException("use idleEndpoint");
  }

  /** An endpoint that nothing can be posted to. */
  Endpoint idleEndpoint(String label) {
    return new IdleEndpoint(this, label);
  }

  @Override
  public UnboundRegion registerForEndpoint(RegionRequest request) {
    throw new IllegalStateException("in domain scope");
  }

  @Override
  public AddressVector openAddressVector(int expectedPeers) {
    throw new UnsupportedOperationException("no peers");
  }

  @Override
  public CompletionQueue openCompletionQueue(int depth, int contexts) {
    throw new UnsupportedOperationException("no completions");
  }

  @Override
  public void close() {}

  private record InstantRegion(RegionRequest request, long number) implements MemoryRegion {
    @Override
    public long descriptor() {
      return number;
    }

    @Override
    public long key() {
      return number;
    }

    @Override
    public void close() {}
  }

  private record IdleEndpoint(Domain domain, String label) implements Endpoint {
    @Override
    public byte[] address() {
      return new byte[0];
    }

    @Override
    public EndpointLimits limits() {
      return EndpointLimits.of(domain.info().limits());
    }

    @Override
    public long option(EndpointOption option) {
      return 0;
    }

    @Override
    public void setOption(EndpointOption option, long value) {
      throw new UnsupportedOperationException("no options");
    }

    @Override
    public int send(
        long address, long length, long descriptor, long peer, int context, long flags) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int sendData(
        long address, long length, long descriptor, long data, long peer, int context, long flags) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int inject(long address, long length, long peer) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int recv(long address, long length, long descriptor, long peer, int context) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int write(
        long address,
        long length,
        long descriptor,
        long peer,
        long remoteAddress,
        long key,
        int context,
        long flags) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int writeData(
        long address,
        long length,
        long descriptor,
        long data,
        long peer,
        long remoteAddress,
        long key,
        int context,
        long flags) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int read(
        long address,
        long length,
        long descriptor,
        long peer,
        long remoteAddress,
        long key,
        int context) {
      return -FabricErrno.ENOSYS;
    }

    @Override
    public int cancel(int context) {
      return -FabricErrno.ENOENT;
    }

    @Override
    public void close() {}
  }
}
