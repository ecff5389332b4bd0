package org.jofi.verbsdouble;

import java.util.List;
import java.util.stream.IntStream;
import org.jofi.nicdouble.Needs;
import org.jofi.nicdouble.NicDouble;

/** InfiniBand adapters of a test. */
public final class VerbsDouble extends NicDouble {
  private static final Needs NEEDS =
      new Needs(
          List.of("infiniband/verbs.h", "rdma/rdma_cma.h"),
          "the double of InfiniBand adapters needs gcc and the headers of libibverbs and librdmacm:"
              + " apt-get install gcc libc6-dev libibverbs-dev librdmacm-dev");

  private VerbsDouble(int devices) {
    super("verbs-double", NEEDS, devices);
  }

  /**
   * Adapters that stand on their own, and of which each process has its own.
   *
   * @param number how many a process has
   */
  public static VerbsDouble devices(int number) {
    return new VerbsDouble(number);
  }

  /**
   * Chooses something of the adapters.
   *
   * @return this
   */
  public VerbsDouble with(Option option, Object value) {
    choose(option.name(), value);
    return this;
  }

  /** The names of libfabric's domains: one for each adapter. */
  @Override
  public List<String> domains() {
    return IntStream.range(0, devices()).mapToObj("mlx5_%d"::formatted).toList();
  }
}
