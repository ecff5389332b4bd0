package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CLASS_MR;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_KEY_NOTAVAIL;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jofi.libfabric.bindings.fi_ops_mr;
import org.jofi.libfabric.bindings.fid_domain;
import org.jofi.libfabric.bindings.fid_mr;
import org.jspecify.annotations.Nullable;

/**
 * struct fid_mr. It is registered with the real provider while it is enabled and no longer, so that
 * peers cannot reach it at other times.
 */
final class RegionFid extends Fid {
  private final DomainFid domain;
  private final RegionAttributes attributes;
  private final long key;
  private final long number;
  private @Nullable EndpointFid endpoint;
  private boolean enabled;
  private int record;
  private int uses;

  RegionFid(DomainFid domain, RegionAttributes attributes, long key) {
    super(
        domain.ledger,
        "region",
        FI_CLASS_MR(),
        domain.premises().tables().object,
        attributes.context());
    this.domain = domain;
    this.attributes = attributes;
    this.key = key;
    number = domain.premises().descriptors().add(this);
    show(Descriptors.tooEarly(number), FI_KEY_NOTAVAIL());
    note("fi_mr_regattr in %s: %s, key 0x%x".formatted(domain, attributes, key));
    ledger.add(this);
    domain.carries(this);
  }

  /** What the caller reads with fi_mr_desc and fi_mr_key. */
  private void show(long descriptor, long visibleKey) {
    fid_mr.mem_desc(own(), MemorySegment.ofAddress(descriptor));
    fid_mr.key(own(), visibleKey);
  }

  RegionAttributes attributes() {
    return attributes;
  }

  @Nullable EndpointFid endpoint() {
    return endpoint;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** An operation that uses it locally begins, or ends. */
  void use(int change) {
    uses += change;
  }

  /** What the real provider has for its descriptor. */
  MemorySegment realDescriptor() {
    return fid_mr.mem_desc(real());
  }

  @Override
  int bind(MemorySegment other, long flags) {
    String call = "fi_mr_bind(" + this + ")";
    synchronized (ledger) {
      note("fi_mr_bind to 0x%x, flags 0x%x".formatted(other.address(), flags));
      EndpointFid to = ledger.find(other, EndpointFid.class, call);
      if (enabled) {
        throw ledger.refusal(Rule.BIND_AFTER_ENABLE, call, "to " + to, this);
      }
      if (endpoint != null) {
        throw ledger.refusal(
            Rule.SECOND_ENDPOINT, call, "to %s, bound to %s".formatted(to, endpoint), this);
      }
      if (flags != 0 || to.domain() != domain) {
        throw ledger.refusal(
            Rule.BIND_ARGUMENTS,
            call,
            "to %s of %s, from %s, flags 0x%x".formatted(to, to.domain(), domain, flags),
            this);
      }
      if (!to.isEnabled()) {
        throw ledger.refusal(Rule.ENDPOINT_NOT_ENABLED, call, "to " + to, this);
      }
      ledger.answer("fi_mr_bind");
      endpoint = to;
      to.bound(this);
      record =
          domain
              .premises()
              .board()
              .addRegion(to.record(), key, attributes.lengthBytes(), attributes.access());
      note("bound to " + to);
      return 0;
    }
  }

  @Override
  int enable() {
    synchronized (ledger) {
      if (endpoint == null) {
        note("fi_mr_enable without an endpoint");
        throw ledger.refusal(
            Rule.MISSING_BIND, "fi_mr_enable(" + this + ")", "bound to no endpoint", this);
      }
      if (enabled) {
        note("fi_mr_enable again");
        return 0;
      }
      ledger.answer("fi_mr_enable");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
      MemorySegment real = domain.real();
      int code =
          fi_ops_mr.regattr.invoke(
              fi_ops_mr.regattr(Pointers.struct(fid_domain.mr(real))),
              real,
              attributes.withKey(key),
              attributes.flags(),
              result);
      note("fi_mr_enable: " + code);
      if (code == 0) {
        synchronized (ledger) {
          real(Pointers.read(result));
          enabled = true;
          domain.premises().board().state(record, Board.REGION_ENABLED);
          show(Descriptors.enabled(number), key);
        }
      }
      return code;
    }
  }

  @Override
  void beforeClose(String call) {
    if (endpoint != null && endpoint.isClosed()) {
      ledger.violated(Rule.REGION_OUTLIVES_ENDPOINT, call, endpoint + " is closed", this);
    }
    if (uses > 0) {
      ledger.violated(
          Rule.CLOSED_IN_FLIGHT, call, uses + " operation(s) of %s".formatted(endpoint), this);
    }
    if (record != Board.NONE) {
      domain.premises().board().state(record, Board.REGION_CLOSED);
    }
  }

  @Override
  void afterClose() {
    show(Descriptors.closed(number), FI_KEY_NOTAVAIL());
    domain.free(key);
    if (endpoint != null) {
      endpoint.unbound(this);
    }
    domain.carriesNoMore(this);
  }
}
