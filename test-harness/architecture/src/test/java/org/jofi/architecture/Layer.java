package org.jofi.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** A package of the product and its subpackages, with what it may use of the others. */
enum Layer {
  FABRIC,
  TRANSPORT,
  ASYNC,
  COUNTERS,
  MR,
  RDMA,
  NCCL,
  LIBFABRIC_BINDINGS,
  LIBFABRIC,
  CUDA_BINDINGS,
  CUDA,
  SIMULATED;

  static final String ROOT = "org.jofi";

  /** The layer's package. */
  String packageName() {
    return ROOT + "." + name().toLowerCase(Locale.ROOT).replace('_', '.');
  }

  /** The other layers that this one may use. */
  Set<Layer> uses() {
    return switch (this) {
      case FABRIC, LIBFABRIC_BINDINGS, CUDA_BINDINGS -> Set.of();
      case TRANSPORT -> Set.of(FABRIC);
      case ASYNC -> Set.of(TRANSPORT);
      case COUNTERS -> Set.of(TRANSPORT);
      case NCCL, SIMULATED -> Set.of(FABRIC, TRANSPORT);
      case MR -> Set.of(FABRIC, TRANSPORT, COUNTERS);
      case RDMA -> Set.of(MR, FABRIC, TRANSPORT, COUNTERS);
      case LIBFABRIC -> Set.of(LIBFABRIC_BINDINGS, FABRIC, TRANSPORT);
      case CUDA -> Set.of(CUDA_BINDINGS, FABRIC, TRANSPORT);
    };
  }

  /**
   * Where a class belongs; empty for what is no layer: the test harness, and what is not the
   * project's.
   */
  static Optional<Layer> of(JavaClass type) {
    // Bindings come before their neighbours, whose packages contain them.
    return Arrays.stream(values())
        .filter(layer -> (type.getPackageName() + ".").startsWith(layer.packageName() + "."))
        .findFirst();
  }

  /** Classes of any of these layers. */
  static DescribedPredicate<JavaClass> in(Set<Layer> layers) {
    return DescribedPredicate.describe(
        "in " + layers, type -> of(type).map(layers::contains).orElse(false));
  }

  /** Classes of the project. */
  static DescribedPredicate<JavaClass> ofTheProject() {
    return DescribedPredicate.describe(
        "of the project", type -> (type.getPackageName() + ".").startsWith(ROOT + "."));
  }

  /** The layers of native providers. */
  static Set<Layer> natives() {
    return EnumSet.of(LIBFABRIC, LIBFABRIC_BINDINGS, CUDA, CUDA_BINDINGS);
  }

  /** The layers that call native functions, or are called by some. */
  static Set<Layer> linking() {
    Set<Layer> layers = EnumSet.of(NCCL);
    layers.addAll(natives());
    return layers;
  }

  /** The layers that jextract wrote. */
  static Set<Layer> generated() {
    return EnumSet.of(LIBFABRIC_BINDINGS, CUDA_BINDINGS);
  }

  /** The layers in which no provider is named, but in the one class that knows them. */
  static Set<Layer> nameless() {
    return EnumSet.of(FABRIC, TRANSPORT, ASYNC, NCCL, MR, RDMA, LIBFABRIC);
  }

  /** The layers that have to run on virtual time. */
  static Set<Layer> deterministic() {
    return EnumSet.of(RDMA, MR);
  }
}
