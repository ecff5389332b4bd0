package org.jofi.simulated.registration;

import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.fault.Fault;
import org.jofi.simulated.network.Faults;
import org.jofi.simulated.network.Lifecycle;

/** Decides whether a domain accepts a registration: fi_mr_regattr, fi_mr(3). */
public final class Registrations {
  private static final String CALL = "fi_mr_regattr";

  private final ProtectionDomain domain;

  public Registrations(ProtectionDomain domain) {
    this.domain = domain;
  }

  /** Makes a region that is neither bound nor enabled. */
  public RegisteredMemory register(RegionRequest request, RegistrationScope scope) {
    domain.life().requireOpen(CALL);
    requireScope(scope);
    requireKind(request);
    requireMapped(request);
    drawFaults(request);
    boolean takesKey = domain.info().keyOwner() == KeyOwner.APPLICATION;
    if (takesKey) {
      requireKey(request);
    }
    Lifecycle life =
        new Lifecycle(
            domain.network(), domain.life().label() + " region of " + request.lengthBytes() + " B");
    if (takesKey) {
      domain.requestedKeys().put(request.requestedKey(), life);
    }
    return new RegisteredMemory(domain, request, life);
  }

  private void requireScope(RegistrationScope scope) {
    if (domain.info().registrationScope() == scope) {
      return;
    }
    String detail =
        "%s negotiated %s scope: use %s"
            .formatted(
                domain.info(),
                domain.info().registrationScope(),
                scope == RegistrationScope.DOMAIN ? "registerForEndpoint" : "register");
    throw misuse(Rule.MR_SCOPE, detail, new IllegalStateException(detail));
  }

  private void requireKind(RegionRequest request) {
    boolean host = request.kind() == MemoryKind.HOST;
    boolean supported =
        host
            || (domain.info().has(Capability.HMEM)
                && domain.nic().profile().negotiation().deviceMemory().contains(request.kind()));
    if (!supported) {
      // Programs find this out by trying, so it is not a broken contract.
      throw failure(FabricErrno.ENOSYS, "no " + request.kind() + " memory on " + domain.info());
    }
    MemoryKind actual =
        domain.network().deviceMemory().kindOf(request.address(), request.lengthBytes());
    if (request.dmaBuf() != null && !host && actual == MemoryKind.HOST) {
      // Memory of a real device: its driver may reserve the addresses, but the CPU cannot access
      // them.
      throw failure(
          FabricErrno.EOPNOTSUPP,
          "only memory of pretended devices is reached, by address, not that behind a dma-buf");
    }
    if (actual != request.kind()) {
      String detail =
          "the range holds %s memory, registered as %s".formatted(actual, request.kind());
      throw misuse(Rule.MR_MEMORY_KIND, detail, failure(FabricErrno.EFAULT, detail));
    }
  }

  private void requireMapped(RegionRequest request) {
    if (!domain.network().mapped().coversNow(request.address(), request.lengthBytes())) {
      String detail =
          "0x%x, +%d is not mapped for reading and writing"
              .formatted(request.address(), request.lengthBytes());
      throw misuse(Rule.MR_MAPPED, detail, new IllegalArgumentException(detail));
    }
  }

  private void drawFaults(RegionRequest request) {
    Faults faults = domain.network().faults();
    if (faults.strikes(Fault.REGISTRATION_ENOMEM)) {
      throw failure(FabricErrno.ENOMEM, "injected, for " + request);
    }
    if (faults.strikes(Fault.REGISTRATION_ENOKEY)) {
      throw failure(FabricErrno.ENOKEY, "injected, for " + request);
    }
  }

  private void requireKey(RegionRequest request) {
    long key = request.requestedKey();
    int bytes = domain.info().limits().mrKeyBytes();
    if (bytes < 8 && key >>> (8 * bytes) != 0) {
      String detail = "key 0x%x does not fit %d bytes".formatted(key, bytes);
      throw misuse(Rule.MR_KEY_SIZE, detail, failure(FabricErrno.EKEYREJECTED, detail));
    }
    Lifecycle holder = domain.requestedKeys().get(key);
    if (holder != null) {
      String detail = "key 0x%x is that of %s".formatted(key, holder);
      throw domain
          .network()
          .contracts()
          .misuse(
              Rule.MR_KEY_UNIQUE,
              CALL,
              holder.history(),
              detail,
              failure(FabricErrno.ENOKEY, detail));
    }
  }

  private RuntimeException misuse(Rule rule, String detail, RuntimeException asProvider) {
    return domain
        .network()
        .contracts()
        .misuse(rule, CALL, domain.life().history(), detail, asProvider);
  }

  private FabricException failure(int errno, String detail) {
    return new FabricException(CALL, errno, detail, domain.life().label());
  }
}
