package org.jofi.fabric;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One NIC, and one way to use it, as the provider and the hints agreed on: fi_getinfo(3).
 * Immutable; any thread.
 *
 * <p>It holds no fabric resources. A provider recognises its own infos by {@link #attachment()}.
 */
public final class FabricInfo {
  private final String provider;
  private final String providerVersion;
  private final String fabricName;
  private final String domainName;
  private final String address;
  private final Set<Capability> capabilities;
  private final Set<MrMode> mrModes;
  private final Set<MessageOrder> messageOrder;
  private final FabricLimits limits;
  private final Progress controlProgress;
  private final Progress dataProgress;
  private final Threading threading;
  private final NicAttributes nic;
  private final boolean writeData;
  private final ProviderTraits traits;
  private final @Nullable Object attachment;

  private FabricInfo(Builder builder) {
    provider = builder.provider;
    providerVersion = builder.providerVersion;
    fabricName = builder.fabricName;
    domainName = builder.domainName;
    address = builder.address;
    capabilities = Set.copyOf(builder.capabilities);
    mrModes = Set.copyOf(builder.mrModes);
    messageOrder = Set.copyOf(builder.messageOrder);
    limits =
        Objects.requireNonNull(builder.limits, "FabricInfo needs limits: nothing can guess them");
    controlProgress = builder.controlProgress;
    dataProgress = builder.dataProgress;
    threading = builder.threading;
    nic = builder.nic;
    writeData = builder.writeData;
    traits = builder.traits;
    attachment = builder.attachment;
  }

  /**
   * Starts an info of that provider, fabric and domain.
   *
   * @param provider see {@link FabricInfo#provider()}
   * @param fabricName see {@link FabricInfo#fabricName()}
   * @param domainName see {@link FabricInfo#domainName()}
   * @return a builder in which only these three are set; {@link Builder#limits} has to be called
   */
  public static Builder builder(String provider, String fabricName, String domainName) {
    return new Builder(provider, fabricName, domainName);
  }

  /**
   * {@return the provider's name as libfabric lists it, such as {@code tcp;ofi_rxm}; but {@code
   * efa-direct} for that fabric of the efa provider, which is used in another way than its other
   * fabric}
   */
  public String provider() {
    return provider;
  }

  /** {@return the provider's own version, such as {@code 117.0}; empty if it has none} */
  public String providerVersion() {
    return providerVersion;
  }

  /** {@return the name of the network, such as {@code 10.77.0.0/24}} */
  public String fabricName() {
    return fabricName;
  }

  /** {@return the name of the NIC, such as {@code rail0} or {@code cxi0}} */
  public String domainName() {
    return domainName;
  }

  /**
   * {@return the local address as text; empty if the provider reports none before an endpoint is
   * open}
   */
  public String address() {
    return address;
  }

  /** {@return what its endpoints can do; an unmodifiable set} */
  public Set<Capability> capabilities() {
    return capabilities;
  }

  /**
   * {@return whether its endpoints have this capability}
   *
   * @param capability the one to look for in {@link #capabilities()}
   */
  public boolean has(Capability capability) {
    return capabilities.contains(capability);
  }

  /** {@return what the provider requires of memory registration; an unmodifiable set} */
  public Set<MrMode> mrModes() {
    return mrModes;
  }

  /** {@return the orders of operations that the provider guarantees; an unmodifiable set} */
  public Set<MessageOrder> messageOrder() {
    return messageOrder;
  }

  /** {@return its limits on sizes and counts} */
  public FabricLimits limits() {
    return limits;
  }

  /** {@return what drives connection set-up and other control operations} */
  public Progress controlProgress() {
    return controlProgress;
  }

  /**
   * {@return what drives transfers} Poll even if this is AUTO: some providers report AUTO and still
   * need polling.
   */
  public Progress dataProgress() {
    return dataProgress;
  }

  /** {@return which calls may run at the same time} */
  public Threading threading() {
    return threading;
  }

  /**
   * {@return whether {@link Endpoint#writeData} works} A provider may support immediate data with
   * messages only, as fi_cxi(7) does by default.
   */
  public boolean writesData() {
    return writeData;
  }

  /** {@return what its provider does differently from others} */
  public ProviderTraits traits() {
    return traits;
  }

  /** {@return the attributes of the NIC; {@link NicAttributes#UNKNOWN} if none is reported} */
  public NicAttributes nic() {
    return nic;
  }

  /** {@return what a region of this NIC belongs to} */
  public RegistrationScope registrationScope() {
    return mrModes.contains(MrMode.ENDPOINT)
        ? RegistrationScope.ENDPOINT
        : RegistrationScope.DOMAIN;
  }

  /** {@return who chooses keys} */
  public KeyOwner keyOwner() {
    return mrModes.contains(MrMode.PROV_KEY) ? KeyOwner.PROVIDER : KeyOwner.APPLICATION;
  }

  /** {@return how peers address regions} */
  public Addressing addressing() {
    return mrModes.contains(MrMode.VIRT_ADDR) ? Addressing.VIRTUAL : Addressing.OFFSET;
  }

  /**
   * {@return the provider's own data for this info; null if it has none} Only the provider may use
   * it.
   */
  public @Nullable Object attachment() {
    return attachment;
  }

  /** Provider, fabric and domain, as errors name them. */
  @Override
  public String toString() {
    return provider + " " + fabricName + " " + domainName;
  }

  /** Collects an info. Not for sharing between threads. */
  public static final class Builder {
    private final String provider;
    private final String fabricName;
    private final String domainName;
    private String providerVersion = "";
    private String address = "";
    private Set<Capability> capabilities = Set.of();
    private Set<MrMode> mrModes = Set.of();
    private Set<MessageOrder> messageOrder = Set.of();
    private @Nullable FabricLimits limits;
    private Progress controlProgress = Progress.UNSPECIFIED;
    private Progress dataProgress = Progress.UNSPECIFIED;
    private Threading threading = Threading.UNSPECIFIED;
    private NicAttributes nic = NicAttributes.UNKNOWN;
    private boolean writeData = true;
    private ProviderTraits traits = ProviderTraits.HARDWARE;
    private @Nullable Object attachment;

    private Builder(String provider, String fabricName, String domainName) {
      this.provider = Objects.requireNonNull(provider);
      this.fabricName = Objects.requireNonNull(fabricName);
      this.domainName = Objects.requireNonNull(domainName);
    }

    /**
     * Sets {@link FabricInfo#providerVersion}; empty if not given.
     *
     * @param value the provider's own version, such as {@code 117.0}; empty if it has none
     * @return this builder
     */
    public Builder providerVersion(String value) {
      providerVersion = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#address}; empty if not given.
     *
     * @param value the local address as text; empty if none is known before an endpoint is open
     * @return this builder
     */
    public Builder address(String value) {
      address = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#capabilities}; none if not given.
     *
     * @param value what endpoints can do; {@link #build} copies the set
     * @return this builder
     */
    public Builder capabilities(Set<Capability> value) {
      capabilities = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#mrModes}; none if not given.
     *
     * @param value what memory registration requires; {@link #build} copies the set
     * @return this builder
     */
    public Builder mrModes(Set<MrMode> value) {
      mrModes = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#messageOrder}; none if not given.
     *
     * @param value the orders that are guaranteed; {@link #build} copies the set
     * @return this builder
     */
    public Builder messageOrder(Set<MessageOrder> value) {
      messageOrder = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#limits}, which every info needs.
     *
     * @param value limits on sizes and counts
     * @return this builder
     */
    public Builder limits(FabricLimits value) {
      limits = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#controlProgress} and {@link FabricInfo#dataProgress}; both are {@link
     * Progress#UNSPECIFIED} if not given.
     *
     * @param control what drives connection set-up and other control operations
     * @param data what drives transfers
     * @return this builder
     */
    public Builder progress(Progress control, Progress data) {
      controlProgress = control;
      dataProgress = data;
      return this;
    }

    /**
     * Sets {@link FabricInfo#threading}; {@link Threading#UNSPECIFIED} if not given.
     *
     * @param value which calls may run at the same time
     * @return this builder
     */
    public Builder threading(Threading value) {
      threading = value;
      return this;
    }

    /**
     * Sets {@link FabricInfo#nic}; {@link NicAttributes#UNKNOWN} if not given.
     *
     * @param value what is reported about the NIC
     * @return this builder
     */
    public Builder nic(NicAttributes value) {
      nic = value;
      return this;
    }

    /**
     * See {@link FabricInfo#writesData}; true if not given.
     *
     * @param value whether {@link Endpoint#writeData} works
     * @return this builder
     */
    public Builder writesData(boolean value) {
      writeData = value;
      return this;
    }

    /**
     * See {@link FabricInfo#traits}; {@link ProviderTraits#HARDWARE} if not given.
     *
     * @param value what the provider does differently from others
     * @return this builder
     */
    public Builder traits(ProviderTraits value) {
      traits = Objects.requireNonNull(value);
      return this;
    }

    /**
     * Sets {@link FabricInfo#attachment}; null if not given.
     *
     * @param value the provider's own data, by which it recognises its infos
     * @return this builder
     */
    public Builder attachment(Object value) {
      attachment = value;
      return this;
    }

    /** {@return the info} Limits must have been given. */
    public FabricInfo build() {
      return new FabricInfo(this);
    }
  }
}
