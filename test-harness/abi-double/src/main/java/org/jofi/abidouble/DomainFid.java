package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CLASS_DOMAIN;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_cq_attr;
import org.jofi.libfabric.bindings.fi_ops_domain;
import org.jofi.libfabric.bindings.fid_domain;

/** struct fid_domain. */
final class DomainFid extends Fid {
  private final Premises premises;
  private final FabricFid fabric;
  private final Map<Long, RegionFid> keys = new HashMap<>();

  DomainFid(Premises premises, FabricFid fabric, MemorySegment real, MemorySegment context) {
    super(premises.ledger(), "domain", FI_CLASS_DOMAIN(), premises.tables().object, context);
    this.premises = premises;
    this.fabric = fabric;
    real(real);
    fid_domain.ops(own(), premises.tables().domain);
    fid_domain.mr(own(), premises.tables().registration);
    note("fi_domain of " + fabric);
    ledger.add(this);
    fabric.carries(this);
  }

  Premises premises() {
    return premises;
  }

  /** fi_av_open. */
  int openVector(MemorySegment attributes, MemorySegment result, MemorySegment context) {
    return open(
        result,
        vector ->
            fi_ops_domain.av_open.invoke(
                fi_ops_domain.av_open(table()), real(), attributes, vector, MemorySegment.NULL),
        vector -> new VectorFid(this, vector, context));
  }

  /** fi_cq_open. */
  int openQueue(MemorySegment attributes, MemorySegment result, MemorySegment context) {
    int format = fi_cq_attr.format(Pointers.struct(attributes));
    return open(
        result,
        queue ->
            fi_ops_domain.cq_open.invoke(
                fi_ops_domain.cq_open(table()), real(), attributes, queue, MemorySegment.NULL),
        queue -> new QueueFid(this, format, queue, context));
  }

  /** fi_endpoint. */
  int openEndpoint(MemorySegment info, MemorySegment result, MemorySegment context) {
    if (!premises.negotiation().isOwn(info)) {
      throw ledger.refusal(Rule.INFO, "fi_endpoint", "another info than was handed out", this);
    }
    MemorySegment function = fi_ops_domain.endpoint(table());
    return open(
        result,
        endpoint ->
            premises
                .negotiation()
                .withReal(
                    info,
                    known ->
                        fi_ops_domain.endpoint.invoke(
                            function, real(), known, endpoint, MemorySegment.NULL)),
        endpoint -> new EndpointFid(this, endpoint, context));
  }

  private MemorySegment table() {
    return Pointers.struct(fid_domain.ops(real()));
  }

  /** fi_mr_regattr. The real registration waits until the region is enabled. */
  int register(MemorySegment attributes, long flags, MemorySegment result) {
    RegionAttributes wanted = RegionAttributes.read(attributes, flags);
    String wrong = wanted.wrong(premises.settings().localDescriptors());
    if (wrong != null) {
      throw ledger.refusal(Rule.REGION_ATTRIBUTES, "fi_mr_regattr", wrong, this);
    }
    if (!MappedMemory.covers(wanted.address(), wanted.lengthBytes(), wanted.isWritten())) {
      throw ledger.refusal(
          Rule.NOT_ALLOCATED, "fi_mr_regattr", wanted + " is not mapped", this, FabricErrno.EFAULT);
    }
    long key =
        premises.settings().providerKeys() ? premises.board().newKey() : wanted.requestedKey();
    synchronized (ledger) {
      if (!premises.settings().providerKeys()) {
        checkKey(wanted);
      }
      ledger.answer("fi_mr_regattr");
      RegionFid region = new RegionFid(this, wanted, key);
      keys.put(key, region);
      Pointers.write(result, region.own());
    }
    return 0;
  }

  private void checkKey(RegionAttributes wanted) {
    long key = wanted.requestedKey();
    if (key >>> Integer.SIZE != 0) {
      throw ledger.refusal(
          Rule.KEY_TOO_WIDE,
          "fi_mr_regattr",
          "key 0x%x of %s".formatted(key, wanted),
          this,
          FabricErrno.EKEYREJECTED);
    }
    RegionFid other = keys.get(key);
    if (other != null) {
      throw ledger.refusal(
          Rule.KEY_IN_USE,
          "fi_mr_regattr",
          "key 0x%x of %s is that of %s".formatted(key, wanted, other),
          other,
          FabricErrno.ENOKEY);
    }
  }

  /** A region closed. */
  void free(long key) {
    keys.remove(key);
  }

  @Override
  void afterClose() {
    fabric.carriesNoMore(this);
  }
}
