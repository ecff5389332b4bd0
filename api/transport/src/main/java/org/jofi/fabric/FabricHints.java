package org.jofi.fabric;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What {@link FabricProvider#discover} looks for: the hints of fi_getinfo(3). They offer all
 * memory-registration modes that jofi supports and no others. They ask for GPU memory but never
 * require it, and progress is manual unless the provider offers nothing else.
 *
 * @param provider name of a provider as libfabric lists it, layered ({@code tcp;ofi_rxm}) or not,
 *     or {@code efa-direct} ({@link FabricInfo#provider()}); empty for all of them
 * @param fabric name of the fabric, or empty for any
 * @param domain name of the domain (the NIC), or empty for any
 * @param required capabilities that every answer must have
 * @param offeredMrModes registration modes that the caller can serve; a provider that needs another
 *     one is left out
 * @param hmem whether to list answers that can access device memory as well
 * @param messageOrder orders that the caller relies on; none by default
 * @param threading how the caller uses threads
 */
public record FabricHints(
    Optional<String> provider,
    Optional<String> fabric,
    Optional<String> domain,
    Set<Capability> required,
    Set<MrMode> offeredMrModes,
    boolean hmem,
    Set<MessageOrder> messageOrder,
    Threading threading) {

  private static final Set<MrMode> SERVED =
      Set.of(
          MrMode.LOCAL,
          MrMode.HMEM,
          MrMode.VIRT_ADDR,
          MrMode.ALLOCATED,
          MrMode.PROV_KEY,
          MrMode.ENDPOINT);

  /** Copies the sets. */
  public FabricHints {
    Objects.requireNonNull(provider);
    Objects.requireNonNull(fabric);
    Objects.requireNonNull(domain);
    required = Set.copyOf(required);
    offeredMrModes = Set.copyOf(offeredMrModes);
    messageOrder = Set.copyOf(messageOrder);
    Objects.requireNonNull(threading);
  }

  /**
   * {@return hints for everything that can carry messages and RMA between reliable connectionless
   * endpoints}
   */
  public static FabricHints any() {
    return new FabricHints(
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        EnumSet.of(Capability.MSG, Capability.RMA),
        SERVED,
        true,
        Set.of(),
        Threading.SAFE);
  }

  /**
   * {@return these hints, for one provider of the library}
   *
   * @param name as libfabric lists it, layered ({@code tcp;ofi_rxm}) or not, or {@code efa-direct}
   */
  public FabricHints withProvider(String name) {
    return new FabricHints(
        Optional.of(name), fabric, domain, required, offeredMrModes, hmem, messageOrder, threading);
  }

  /**
   * {@return these hints, for one fabric}
   *
   * @param name a {@link FabricInfo#fabricName()}, in full
   */
  public FabricHints withFabric(String name) {
    return new FabricHints(
        provider,
        Optional.of(name),
        domain,
        required,
        offeredMrModes,
        hmem,
        messageOrder,
        threading);
  }

  /**
   * {@return these hints, for one domain}
   *
   * @param name a {@link FabricInfo#domainName()}, in full
   */
  public FabricHints withDomain(String name) {
    return new FabricHints(
        provider,
        fabric,
        Optional.of(name),
        required,
        offeredMrModes,
        hmem,
        messageOrder,
        threading);
  }

  /**
   * {@return these hints, requiring these capabilities and no others}
   *
   * @param capabilities what every answer must have; they replace those required before
   */
  public FabricHints withRequired(Set<Capability> capabilities) {
    return new FabricHints(
        provider, fabric, domain, capabilities, offeredMrModes, hmem, messageOrder, threading);
  }

  /**
   * {@return these hints, offering these registration modes and no others}
   *
   * @param modes what the caller can serve; a provider that needs another one is left out
   */
  public FabricHints withOfferedMrModes(Set<MrMode> modes) {
    return new FabricHints(
        provider, fabric, domain, required, modes, hmem, messageOrder, threading);
  }

  /**
   * {@return these hints, with or without answers that can access device memory}
   *
   * @param wanted true to list those answers as well, false to leave them out
   */
  public FabricHints withHmem(boolean wanted) {
    return new FabricHints(
        provider, fabric, domain, required, offeredMrModes, wanted, messageOrder, threading);
  }

  /**
   * {@return these hints, requiring these orders}
   *
   * @param order what the caller relies on; it replaces the orders required before
   */
  public FabricHints withMessageOrder(Set<MessageOrder> order) {
    return new FabricHints(
        provider, fabric, domain, required, offeredMrModes, hmem, order, threading);
  }

  /**
   * {@return these hints, with another threading model}
   *
   * @param use how the caller uses threads
   */
  public FabricHints withThreading(Threading use) {
    return new FabricHints(
        provider, fabric, domain, required, offeredMrModes, hmem, messageOrder, use);
  }
}
