package org.jofi.mr.recording;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.BoundRegion;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;

/** A region of the recording fabric, whichever of its typestates it is in. */
public final class RecordedRegion {
  private enum State {
    UNBOUND,
    BOUND,
    USABLE,
    CLOSED
  }

  private final RecordingDomain domain;
  private final RegionRequest request;
  private final long descriptor;
  private final List<String> posted = new ArrayList<>();
  private State state = State.UNBOUND;
  private RecordingEndpoint endpoint;
  private long key;

  RecordedRegion(RecordingDomain domain, RegionRequest request, long descriptor) {
    this.domain = domain;
    this.request = request;
    this.descriptor = descriptor;
  }

  public RegionRequest request() {
    return request;
  }

  public long descriptor() {
    return descriptor;
  }

  public long key() {
    return key;
  }

  RecordingDomain domain() {
    return domain;
  }

  /** The endpoint that it is bound to; null in domain scope. */
  public RecordingEndpoint endpoint() {
    return endpoint;
  }

  public boolean isUsable() {
    return state == State.USABLE;
  }

  List<String> posted() {
    return posted;
  }

  MemoryRegion usable() {
    state = State.USABLE;
    key =
        domain.info().keyOwner() == KeyOwner.PROVIDER
            ? ++domain.fabric.lastProviderKey
            : request.requestedKey();
    return new Usable();
  }

  UnboundRegion unbound() {
    return new Unbound();
  }

  private void require(State wanted, String call) {
    if (state != wanted) {
      throw new IllegalStateException("%s while %s: %s".formatted(call, state, request));
    }
  }

  private void close(State from) {
    Runnable meanwhile = domain.fabric.duringNextClose;
    domain.fabric.duringNextClose = () -> {};
    meanwhile.run();
    synchronized (domain.fabric) {
      if (state != from) {
        return;
      }
      domain.fabric.called(RecordingFabric.Step.CLOSE, domain, request);
      if (!posted.isEmpty()) {
        if (!domain.fabric.cancelIsIgnored) {
          domain.fabric.violated("region %s closed under %s".formatted(request, posted));
        }
        if (endpoint == null) {
          throw domain.fabric.refused(
              RecordingFabric.Step.CLOSE, FabricErrno.EBUSY, domain, request);
        }
      }
      if (endpoint != null) {
        if (endpoint.isClosed()) {
          domain.fabric.violated("region %s closed after its endpoint".formatted(request));
        }
        endpoint.bound.remove(this);
      }
      state = State.CLOSED;
      domain.regions.remove(this);
    }
  }

  private final class Unbound implements UnboundRegion {
    @Override
    public BoundRegion bind(Endpoint to) {
      synchronized (domain.fabric) {
        if (to.domain() != domain) {
          throw new IllegalArgumentException("endpoint of another domain");
        }
        require(State.UNBOUND, "bind");
        RecordingEndpoint target = (RecordingEndpoint) to;
        if (target.isClosed()) {
          throw new IllegalStateException("bind to a closed endpoint");
        }
        domain.fabric.called(RecordingFabric.Step.BIND, domain, request);
        state = State.BOUND;
        endpoint = target;
        endpoint.bound.add(RecordedRegion.this);
        return new Bound();
      }
    }

    @Override
    public void close() {
      RecordedRegion.this.close(State.UNBOUND);
    }
  }

  private final class Bound implements BoundRegion {
    @Override
    public MemoryRegion enable() {
      synchronized (domain.fabric) {
        require(State.BOUND, "enable");
        if (endpoint.isClosed()) {
          throw new IllegalStateException("enable on a closed endpoint");
        }
        domain.fabric.called(RecordingFabric.Step.ENABLE, domain, request);
        return usable();
      }
    }

    @Override
    public void close() {
      RecordedRegion.this.close(State.BOUND);
    }
  }

  private final class Usable implements MemoryRegion {
    @Override
    public RegionRequest request() {
      return request;
    }

    @Override
    public long descriptor() {
      return descriptor;
    }

    @Override
    public long key() {
      if (!Access.isRemote(request.access())) {
        throw new IllegalStateException("no remote access, no key");
      }
      return key;
    }

    @Override
    public void close() {
      RecordedRegion.this.close(State.USABLE);
    }
  }
}
