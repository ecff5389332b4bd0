package org.jofi.mr.recording;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.fabric.UnboundRegion;

/** One NIC of the recording fabric. */
public final class RecordingDomain implements Domain {
  final RecordingFabric fabric;
  final int nic;
  public final Set<RecordedRegion> regions = new LinkedHashSet<>();
  final Set<AutoCloseable> children = new LinkedHashSet<>();
  private final FabricInfo info;
  private boolean closed;

  RecordingDomain(RecordingFabric fabric, int nic, FabricInfo info) {
    this.fabric = fabric;
    this.nic = nic;
    this.info = info;
  }

  @Override
  public FabricInfo info() {
    return info;
  }

  @Override
  public MemoryRegion register(RegionRequest request) {
    requireScope(RegistrationScope.DOMAIN);
    return open(request).usable();
  }

  @Override
  public UnboundRegion registerForEndpoint(RegionRequest request) {
    requireScope(RegistrationScope.ENDPOINT);
    return open(request).unbound();
  }

  private void requireScope(RegistrationScope wanted) {
    if (closed || info.registrationScope() != wanted) {
      throw new IllegalStateException("not in %s scope, or closed".formatted(wanted));
    }
  }

  private RecordedRegion open(RegionRequest request) {
    Runnable meanwhile = fabric.duringNextRegistration;
    fabric.duringNextRegistration = () -> {};
    meanwhile.run();
    synchronized (fabric) {
      fabric.called(RecordingFabric.Step.REGISTER, this, request);
      if (info.keyOwner() == KeyOwner.APPLICATION) {
        checkKey(request.requestedKey());
      }
      RecordedRegion region = new RecordedRegion(this, request, ++fabric.lastDescriptor);
      regions.add(region);
      return region;
    }
  }

  private void checkKey(long key) {
    int width = info.limits().mrKeyBytes();
    if (width < 8 && key >>> (8 * width) != 0) {
      throw fabric.violation(
          FabricErrno.EKEYREJECTED, this, "key 0x%x is wider than %d bytes".formatted(key, width));
    }
    for (RecordedRegion other : regions) {
      if (other.request().requestedKey() == key) {
        throw fabric.violation(FabricErrno.ENOKEY, this, "key 0x%x is live".formatted(key));
      }
    }
  }

  RecordingEndpoint openEndpoint(String label) {
    return (RecordingEndpoint)
        openEndpoint(
            EndpointRequest.of(label, openAddressVector(1), openCompletionQueue(16, 1024)));
  }

  @Override
  public Endpoint openEndpoint(EndpointRequest request) {
    synchronized (fabric) {
      RecordingEndpoint endpoint = new RecordingEndpoint(this, request);
      children.add(endpoint);
      return endpoint;
    }
  }

  @Override
  public AddressVector openAddressVector(int expectedPeers) {
    RecordingTable table = new RecordingTable(this);
    children.add(table);
    return table;
  }

  @Override
  public CompletionQueue openCompletionQueue(int depth, int contexts) {
    RecordingQueue queue = new RecordingQueue(this, contexts);
    children.add(queue);
    return queue;
  }

  @Override
  public void close() {
    synchronized (fabric) {
      if (!regions.isEmpty() || !children.isEmpty()) {
        throw fabric.violation(
            FabricErrno.EBUSY,
            this,
            "%s closed with %d regions and %s open".formatted(info, regions.size(), children));
      }
      closed = true;
    }
  }
}
