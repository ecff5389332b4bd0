package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricInfo;
import org.jofi.libfabric.bindings.fi_ops_fabric;
import org.jofi.libfabric.bindings.fid_fabric;

/** struct fid_fabric. */
final class LibfabricFabric extends FabricObject implements Fabric {
  private final FabricInfo info;
  private final NativeInfo handle;
  private final MemorySegment fabric;

  LibfabricFabric(FabricInfo info, NativeInfo handle, MemorySegment fabric) {
    super("fabric " + info);
    this.info = info;
    this.handle = handle;
    this.fabric = InfoReader.struct(fabric);
    opened(this.fabric);
  }

  @Override
  public FabricInfo info() {
    return info;
  }

  @Override
  public Domain openDomain() {
    LibfabricDomain domain = new LibfabricDomain(info, handle);
    domain.standOn(this);
    MemorySegment function = fi_ops_fabric.domain(fid_fabric.ops(fabric));
    domain.open(
        "fi_domain",
        result ->
            handle.with(
                info ->
                    SignalGuard.guard(
                        () ->
                            fi_ops_fabric.domain.invoke(
                                function, fabric, info, result, MemorySegment.NULL))));
    try {
      domain.openEvents(fabric);
      return domain;
    } catch (RuntimeException failure) {
      domain.abandon(failure);
      throw failure;
    }
  }

  @Override
  public void close() {
    closeObject("fabric");
  }
}
