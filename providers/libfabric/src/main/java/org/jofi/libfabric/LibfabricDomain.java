package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.CompletionQueue;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointRequest;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.MemoryRegion;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.RegistrationScope;
import org.jofi.fabric.UnboundRegion;
import org.jspecify.annotations.Nullable;

/** struct fid_domain. */
final class LibfabricDomain extends FabricObject implements Domain {
  private final FabricInfo info;
  private final NativeInfo handle;
  private final RegionMapLock regionMapLock;
  private final boolean splitsWriteData;

  // Set once, when the domain is open; null for providers that need none.
  private @Nullable LibfabricEventQueue events;

  LibfabricDomain(FabricInfo info, NativeInfo handle) {
    super("domain " + info);
    this.info = info;
    this.handle = handle;
    regionMapLock = RegionMapLock.of(info);
    splitsWriteData =
        LibfabricTraits.crashesOnPartialWriteData(
            info.provider(), LibfabricLibrary.load().version());
  }

  /**
   * Opens the event queue that this provider's endpoints need; after the domain itself.
   *
   * @param fabric the domain's
   */
  void openEvents(MemorySegment fabric) {
    if (LibfabricTraits.isEfa(info.provider())) {
      events = LibfabricEventQueue.open(this, fabric);
    }
  }

  /** What endpoints are bound to beside their completion queues; null if they need nothing. */
  @Nullable LibfabricEventQueue events() {
    return events;
  }

  @Override
  public FabricInfo info() {
    return info;
  }

  /** Whether its endpoints are in memory that processes share, which contains locks. */
  boolean isSharedMemory() {
    return LibfabricTraits.isSharedMemory(info.provider());
  }

  /** For what may touch the domain's map of regions. */
  RegionMapLock regionMapLock() {
    return regionMapLock;
  }

  /** Whether immediate data goes by a write of its own, behind one whose completion nobody gets. */
  boolean splitsWriteData() {
    return splitsWriteData;
  }

  NativeInfo handle() {
    return handle;
  }

  MemorySegment fid() {
    requireOpen();
    return nativeObject();
  }

  @Override
  public AddressVector openAddressVector(int expectedPeers) {
    return LibfabricAddressVector.open(this, expectedPeers);
  }

  @Override
  public CompletionQueue openCompletionQueue(int depth, int contexts) {
    return LibfabricCompletionQueue.open(this, depth, contexts);
  }

  @Override
  public Endpoint openEndpoint(EndpointRequest request) {
    return EndpointOpening.open(this, request);
  }

  @Override
  public MemoryRegion register(RegionRequest request) {
    requireScope(RegistrationScope.DOMAIN, "FI_MR_ENDPOINT: use registerForEndpoint");
    return new RegisteredRegion(Registration.open(this, request));
  }

  @Override
  public UnboundRegion registerForEndpoint(RegionRequest request) {
    requireScope(RegistrationScope.ENDPOINT, "no FI_MR_ENDPOINT: use register");
    return new RegisteredUnboundRegion(Registration.open(this, request));
  }

  private void requireScope(RegistrationScope scope, String negotiated) {
    requireOpen();
    if (info.registrationScope() != scope) {
      throw new IllegalStateException(place() + " negotiated " + negotiated);
    }
  }

  /** Nothing writes to the queue of events any more. */
  @Override
  void closedForGood() {
    if (events != null) {
      events.close();
    }
  }

  @Override
  public void close() {
    closeObject("domain");
  }
}
