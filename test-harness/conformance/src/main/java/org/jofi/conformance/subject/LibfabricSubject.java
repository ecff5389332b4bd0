package org.jofi.conformance.subject;

import java.util.List;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jspecify.annotations.Nullable;

/** A provider of the installed libfabric. */
final class LibfabricSubject implements Subject {
  private final FabricProvider libfabric;
  private final String name;
  private final FabricHints hints;

  LibfabricSubject(FabricProvider libfabric, String name, @Nullable String domain) {
    this.libfabric = libfabric;
    this.name = name;
    FabricHints any = FabricHints.any().withProvider(name).withHmem(false);
    this.hints = domain == null ? any : any.withDomain(domain);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public FabricProvider provider() {
    return libfabric;
  }

  @Override
  public FabricHints hints() {
    return hints;
  }

  /** Without those of other providers, which libfabric lists as related: layered ones. */
  @Override
  public List<FabricInfo> discover(FabricHints wanted) {
    return Subject.super.discover(wanted).stream()
        .filter(info -> info.provider().equals(name))
        .toList();
  }
}
