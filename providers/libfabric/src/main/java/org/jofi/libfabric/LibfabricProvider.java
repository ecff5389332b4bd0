package org.jofi.libfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.ProviderRelease;
import org.jofi.libfabric.bindings.fi_info;

/**
 * All FI_EP_RDM providers of the installed libfabric. Any thread. The first call loads the library.
 */
public final class LibfabricProvider implements FabricProvider {

  private final EntryPoints library;

  /** For {@link java.util.ServiceLoader}. */
  public LibfabricProvider() {
    this(EntryPoints.LIBRARY);
  }

  /**
   * @param library the entry points of the library
   */
  public LibfabricProvider(EntryPoints library) {
    this.library = library;
  }

  @Override
  public String name() {
    return "libfabric";
  }

  @Override
  public String version() {
    LibfabricLibrary library = LibfabricLibrary.load();
    return "libfabric %s from %s".formatted(library.versionText(), library.file());
  }

  @Override
  public List<FabricInfo> discover(FabricHints hints) {
    return new Discovery(LibfabricLibrary.load(), library).find(hints);
  }

  @Override
  public String whyMissing(String provider) {
    StringJoiner why = new StringJoiner(" ");
    String chosen = System.getenv("FI_PROVIDER");
    if (chosen != null) {
      why.add("FI_PROVIDER='%s' limits what libfabric lists; unset it.".formatted(chosen));
    }
    String room = LibfabricTraits.isSharedMemory(provider) ? SharedMemoryRoom.whyMissing() : "";
    if (!room.isEmpty()) {
      why.add(room);
    }
    return why.toString();
  }

  @Override
  public ProviderRelease release(FabricInfo info) {
    int version = LibfabricLibrary.load().version();
    return new ProviderRelease(
        info.provider(), LibfabricLibrary.major(version), LibfabricLibrary.minor(version));
  }

  @Override
  public Optional<String> obstacle(ProviderRelease own, ProviderRelease peer) {
    return LibfabricTraits.obstacle(own, peer);
  }

  @Override
  public Set<Module> nativeModules() {
    // On the class path they are the same.
    return Set.copyOf(List.of(LibfabricProvider.class.getModule(), fi_info.class.getModule()));
  }

  @Override
  public Fabric open(FabricInfo info) {
    if (!(info.attachment() instanceof NativeInfo handle)) {
      throw new IllegalArgumentException(info + " was not discovered by libfabric");
    }
    LibfabricTraits.trap(info.provider(), LibC::variable)
        .ifPresent(
            why -> {
              throw new FabricException("fi_fabric", FabricErrno.EOPNOTSUPP, why, info.toString());
            });
    return handle.with(pointer -> open(info, handle, pointer));
  }

  private Fabric open(FabricInfo info, NativeInfo handle, MemorySegment pointer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ValueLayout.ADDRESS);
      MemorySegment attributes = fi_info.fabric_attr(InfoReader.struct(pointer));
      int code = library.fabric(attributes, result, MemorySegment.NULL);
      if (code != 0) {
        throw new FabricException("fi_fabric", -code, "", info.toString());
      }
      return new LibfabricFabric(info, handle, result.get(ValueLayout.ADDRESS, 0));
    }
  }
}
