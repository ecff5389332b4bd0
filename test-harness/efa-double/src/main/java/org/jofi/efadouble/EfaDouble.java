package org.jofi.efadouble;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jofi.nicdouble.Needs;
import org.jofi.nicdouble.NicDouble;

/** EFA devices of a test. */
public final class EfaDouble extends NicDouble {
  private static final Needs NEEDS =
      new Needs(
          List.of("infiniband/efadv.h"),
          "the EFA double needs gcc and libibverbs' headers:"
              + " apt-get install gcc libc6-dev libibverbs-dev");

  private EfaDouble(int devices) {
    super("efa-double", NEEDS, devices);
  }

  /**
   * Devices that stand on their own, and of which each process has its own.
   *
   * @param number how many a process has
   */
  public static EfaDouble devices(int number) {
    return new EfaDouble(number);
  }

  /**
   * Chooses something of the devices.
   *
   * @return this
   */
  public EfaDouble with(Option option, Object value) {
    choose(option.name(), value);
    return this;
  }

  /** The names of libfabric's domains for reliable datagrams: one for each device. */
  @Override
  public List<String> domains() {
    return IntStream.range(0, devices()).mapToObj("efa_%d-rdm"::formatted).toList();
  }

  @Override
  public Map<String, String> environment() {
    Map<String, String> environment = super.environment();
    // The provider's own way between processes of one host would hide the devices.
    environment.put("FI_EFA_ENABLE_SHM_TRANSFER", "0");
    return environment;
  }
}
