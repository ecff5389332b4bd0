package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_CLASS_FABRIC;

import java.lang.foreign.MemorySegment;
import org.jofi.libfabric.bindings.fi_ops_fabric;
import org.jofi.libfabric.bindings.fid_fabric;

/** struct fid_fabric. */
final class FabricFid extends Fid {
  private final Premises premises;

  FabricFid(Premises premises, MemorySegment real, MemorySegment context) {
    super(premises.ledger(), "fabric", FI_CLASS_FABRIC(), premises.tables().object, context);
    this.premises = premises;
    real(real);
    fid_fabric.ops(own(), premises.tables().fabric);
    fid_fabric.api_version(own(), fid_fabric.api_version(real()));
    note("fi_fabric");
    ledger.add(this);
  }

  /** fi_domain. */
  int openDomain(MemorySegment info, MemorySegment result, MemorySegment context) {
    if (!premises.negotiation().isOwn(info)) {
      throw ledger.refusal(Rule.INFO, "fi_domain", "another info than was handed out", this);
    }
    MemorySegment function = fi_ops_fabric.domain(Pointers.struct(fid_fabric.ops(real())));
    return open(
        result,
        domain ->
            premises
                .negotiation()
                .withReal(
                    info,
                    known ->
                        fi_ops_fabric.domain.invoke(
                            function, real(), known, domain, MemorySegment.NULL)),
        domain -> new DomainFid(premises, this, domain, context));
  }

  @Override
  void afterClose() {}
}
