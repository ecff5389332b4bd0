package org.jofi.mr.recording;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.RegistrationScope;

/**
 * An endpoint of the recording fabric: posted operations stay posted until they are {@linkplain
 * #complete completed} or cancelled, and must lie in a usable region of this endpoint.
 */
public final class RecordingEndpoint implements Endpoint {
  private record Operation(RecordedRegion region, String name) {}

  final Set<RecordedRegion> bound = new LinkedHashSet<>();
  private final RecordingDomain domain;
  private final EndpointRequest request;
  private final Map<Integer, Operation> posted = new HashMap<>();
  private final Set<Integer> cancelled = new LinkedHashSet<>();
  private boolean closed;

  RecordingEndpoint(RecordingDomain domain, EndpointRequest request) {
    this.domain = domain;
    this.request = request;
    queue().users++;
    table().users++;
  }

  RecordingQueue queue() {
    return (RecordingQueue) request.receiveQueue();
  }

  RecordingTable table() {
    return (RecordingTable) request.addressVector();
  }

  public boolean isClosed() {
    return closed;
  }

  @Override
  public Domain domain() {
    return domain;
  }

  @Override
  public String label() {
    return request.label();
  }

  @Override
  public byte[] address() {
    return new byte[0];
  }

  private int post(String name, long address, long lengthBytes, long descriptor, int context) {
    synchronized (domain.fabric) {
      RecordedRegion region = find(descriptor);
      if (closed || region == null || !region.isUsable()) {
        domain.fabric.violated(
            "%s with descriptor %d of no usable region".formatted(name, descriptor));
        return -FabricErrno.EINVAL;
      }
      if (domain.info().registrationScope() == RegistrationScope.ENDPOINT
          && region.endpoint() != this) {
        domain.fabric.violated(
            "%s on %s with a region of another endpoint".formatted(name, label()));
        return -FabricErrno.EINVAL;
      }
      long offset = address - region.request().address();
      if (offset < 0 || offset + lengthBytes > region.request().lengthBytes()) {
        domain.fabric.violated(
            "%s of [0x%x, +%d) outside of %s"
                .formatted(name, address, lengthBytes, region.request()));
        return -FabricErrno.EINVAL;
      }
      String operation = "%s %d on %s".formatted(name, context, label());
      posted.put(context, new Operation(region, operation));
      region.posted().add(operation);
      return 0;
    }
  }

  private RecordedRegion find(long descriptor) {
    for (RecordedRegion region : domain.regions) {
      if (region.descriptor() == descriptor) {
        return region;
      }
    }
    return null;
  }

  /** Completes an operation; false if it is not posted. */
  boolean complete(int context) {
    synchronized (domain.fabric) {
      Operation operation = posted.remove(context);
      cancelled.remove(context);
      return operation != null && operation.region().posted().remove(operation.name());
    }
  }

  boolean isPosted(int context) {
    return posted.containsKey(context);
  }

  /** Completes what was cancelled. */
  void progress() {
    synchronized (domain.fabric) {
      if (!domain.fabric.cancelIsIgnored) {
        Set.copyOf(cancelled).forEach(this::complete);
      }
    }
  }

  @Override
  public int recv(long address, long lengthBytes, long descriptor, long peer, int context) {
    return post("recv", address, lengthBytes, descriptor, context);
  }

  @Override
  public int send(
      long address, long lengthBytes, long descriptor, long peer, int context, long flags) {
    return post("send", address, lengthBytes, descriptor, context);
  }

  @Override
  public int sendData(
      long address,
      long lengthBytes,
      long descriptor,
      long data,
      long peer,
      int context,
      long flags) {
    return post("senddata", address, lengthBytes, descriptor, context);
  }

  @Override
  public int inject(long address, long lengthBytes, long peer) {
    return 0;
  }

  @Override
  public int write(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    return post("write", address, lengthBytes, descriptor, context);
  }

  @Override
  public int writeData(
      long address,
      long lengthBytes,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    return post("writedata", address, lengthBytes, descriptor, context);
  }

  @Override
  public int read(
      long address,
      long lengthBytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context) {
    return post("read", address, lengthBytes, descriptor, context);
  }

  @Override
  public int cancel(int context) {
    synchronized (domain.fabric) {
      if (!posted.containsKey(context)) {
        return -FabricErrno.ENOENT;
      }
      cancelled.add(context);
      return 0;
    }
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
    throw new IllegalArgumentException("no option " + option);
  }

  @Override
  public void close() {
    synchronized (domain.fabric) {
      if (closed) {
        return;
      }
      if (!bound.isEmpty()) {
        throw domain.fabric.violation(
            FabricErrno.EBUSY,
            domain,
            "%s closed before %d regions bound to it".formatted(label(), bound.size()));
      }
      Set.copyOf(posted.keySet()).forEach(this::complete);
      closed = true;
      queue().users--;
      table().users--;
      domain.children.remove(this);
    }
  }

  @Override
  public String toString() {
    return label();
  }
}
