package org.jofi.rdma.topology;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jofi.fabric.Addressing;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.RegistrationScope;
import org.jofi.transport.FailureCause;
import org.jofi.transport.Grouping;
import org.jofi.transport.TransportException;
import org.jofi.transport.TransportOptions;

/**
 * Makes devices of NICs, and says why. NICs of one device are of one provider and register memory
 * alike; their speeds may differ, and stripes follow them.
 */
public final class DeviceGrouping {
  private static final Path ROUTES = Path.of("proc/self/net/fib_trie");

  private final SysfsPci sysfs;
  private final SourceRoutes routes;
  private final int maxRails;

  /**
   * @param sysfs where locality is read
   * @param routes tells whether routes depend on the source
   * @param maxRails most rails of a device, 1 to 8
   */
  DeviceGrouping(SysfsPci sysfs, SourceRoutes routes, int maxRails) {
    if (maxRails < 1 || maxRails > TransportOptions.MAX_RAILS) {
      throw new IllegalArgumentException("1 to 8 rails, not " + maxRails);
    }
    this.sysfs = sysfs;
    this.routes = routes;
    this.maxRails = maxRails;
  }

  /**
   * Makes devices of the NICs of a machine.
   *
   * @param sysfs what is mounted at /sys; the machine's proc is beside it
   */
  public static DeviceGrouping of(Path sysfs, int maxRails) {
    return new DeviceGrouping(
        new SysfsPci(sysfs), new SourceRoutes(sysfs.resolveSibling(ROUTES)), maxRails);
  }

  /**
   * Groups NICs.
   *
   * @param nics those that the protocol can run on, in the provider's order
   * @return the devices; empty if there are no NICs
   * @throws TransportException with {@link FailureCause#UNAVAILABLE} if an explicit grouping names
   *     a NIC that there is not, or joins NICs that are not alike
   */
  public List<DeviceGroup> group(List<FabricInfo> nics, Grouping grouping) {
    List<LocatedNic> located =
        nics.stream().map(nic -> new LocatedNic(nic, sysfs.locate(nic))).toList();
    return switch (grouping) {
      case Grouping.ByLocality() -> byLocality(located);
      case Grouping.EachNic() ->
          located.stream()
              .map(nic -> device(List.of(nic), List.of("Every NIC is a device, as configured.")))
              .toList();
      case Grouping.Together() ->
          alike(located).values().stream()
              .flatMap(
                  same ->
                      split(same, 1, List.of("NICs that are alike are together, as configured."))
                          .stream())
              .toList();
      case Grouping.Explicit(List<List<String>> devices) ->
          DeviceGroup.toldApart(devices.stream().map(names -> explicit(names, located)).toList());
    };
  }

  private List<DeviceGroup> byLocality(List<LocatedNic> nics) {
    List<DeviceGroup> devices = new ArrayList<>();
    List<PciPath> accelerators = sysfs.accelerators();
    for (List<LocatedNic> same : alike(nics).values()) {
      Map<Place, List<LocatedNic>> places = new LinkedHashMap<>();
      for (LocatedNic nic : same) {
        places.computeIfAbsent(place(nic, accelerators), _ -> new ArrayList<>()).add(nic);
      }
      places.forEach((place, there) -> devices.addAll(devicesAt(place, there)));
    }
    return devices;
  }

  private List<DeviceGroup> devicesAt(Place place, List<LocatedNic> nics) {
    if (place.below.isEmpty()) {
      return nics.stream().map(nic -> device(List.of(nic), List.of(place.why))).toList();
    }
    List<LocatedNic> sorted =
        nics.stream()
            .sorted(Comparator.comparing(nic -> nic.path().map(PciPath::toString).orElse("")))
            .toList();
    return split(sorted, place.accelerators, List.of(place.why));
  }

  /** The lowest bridge above a NIC that has an accelerator below it, too; else the host bridge. */
  private static Place place(LocatedNic nic, List<PciPath> accelerators) {
    if (nic.path().isEmpty()) {
      return new Place("", 0, "No PCI locality is known of it, so it is a device of its own.");
    }
    PciPath path = nic.path().get();
    if (accelerators.isEmpty()) {
      return new Place(
          path.to(1), 1, "No GPU is on PCI, so NICs below one host bridge are together.");
    }
    int depth = accelerators.stream().mapToInt(path::sharedWith).max().orElse(0);
    if (depth == 0) {
      return new Place("", 0, "No GPU is below its host bridge, so it is a device of its own.");
    }
    int sharing = (int) accelerators.stream().filter(gpu -> path.sharedWith(gpu) >= depth).count();
    return new Place(
        path.to(depth),
        sharing,
        "Nearest to %d GPU(s), below %s.".formatted(sharing, path.steps().get(depth - 1)));
  }

  /**
   * Makes as many devices as asked, or more: of NICs in one IP subnet each device gets one, since
   * the kernel sends by one of them, whichever address is used, unless routes depend on the source.
   */
  private List<DeviceGroup> split(List<LocatedNic> nics, int parts, List<String> reasons) {
    List<DeviceGroup> devices = new ArrayList<>();
    List<LocatedNic> left = nics;
    while (!left.isEmpty()) {
      Map<String, LocatedNic> firsts = new LinkedHashMap<>();
      List<LocatedNic> others = new ArrayList<>();
      for (LocatedNic nic : left) {
        if (nic.subnet().isPresent()
            && !routes.tellApart(nic.subnet().get(), inSubnet(nics, nic.subnet().get()))
            && firsts.putIfAbsent(nic.subnet().get(), nic) != null) {
          others.add(nic);
        }
      }
      List<LocatedNic> apart = new ArrayList<>(left);
      apart.removeAll(others);
      List<String> why = new ArrayList<>(reasons);
      if (left.size() < nics.size()) {
        why.add(
            "In a subnet of another device's, so that what it sends may leave by that one; listed together by name they are used as rails.");
      }
      devices.addAll(cut(apart, parts, why));
      left = others;
    }
    return devices;
  }

  private static int inSubnet(List<LocatedNic> nics, String subnet) {
    return (int) nics.stream().filter(nic -> nic.subnet().equals(Optional.of(subnet))).count();
  }

  /** Cuts NICs into as many devices as asked, or more if the limit needs it, evenly. */
  private List<DeviceGroup> cut(List<LocatedNic> nics, int parts, List<String> reasons) {
    int least = (nics.size() + maxRails - 1) / maxRails;
    int count = Math.clamp(parts, least, nics.size());
    List<String> why = new ArrayList<>(reasons);
    if (count > 1) {
      why.add(
          "%d NICs are there, shared out to %d devices%s."
              .formatted(
                  nics.size(),
                  count,
                  least >= parts && least > 1 ? " of at most " + maxRails + " rails" : ""));
    }
    List<DeviceGroup> devices = new ArrayList<>(count);
    for (int part = 0; part < count; part++) {
      devices.add(
          device(nics.subList(part * nics.size() / count, (part + 1) * nics.size() / count), why));
    }
    return devices;
  }

  private static DeviceGroup explicit(List<String> names, List<LocatedNic> nics) {
    List<LocatedNic> rails = names.stream().map(name -> named(name, nics)).toList();
    if (alike(rails).size() > 1) {
      throw new TransportException(
          FailureCause.UNAVAILABLE,
          "NICs %s cannot be one device: %s"
              .formatted(
                  names,
                  rails.stream()
                      .map(nic -> nic.name() + " is " + nic.likeness())
                      .collect(Collectors.joining(", "))));
    }
    return device(rails, List.of("Listed together in the configuration."));
  }

  private static LocatedNic named(String name, List<LocatedNic> nics) {
    return nics.stream()
        .filter(nic -> nic.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new TransportException(
                    FailureCause.UNAVAILABLE,
                    "no NIC %s; there are %s"
                        .formatted(name, nics.stream().map(LocatedNic::name).distinct().toList())));
  }

  private static Map<LocatedNic.Likeness, List<LocatedNic>> alike(List<LocatedNic> nics) {
    return nics.stream()
        .collect(
            Collectors.groupingBy(LocatedNic::likeness, LinkedHashMap::new, Collectors.toList()));
  }

  private static DeviceGroup device(List<LocatedNic> nics, List<String> reasons) {
    List<String> why = new ArrayList<>(reasons);
    TreeMap<Long, Long> speeds =
        nics.stream()
            .collect(
                Collectors.groupingBy(
                    nic -> nic.info().nic().linkSpeedBitsPerSecond(),
                    TreeMap::new,
                    Collectors.counting()));
    if (speeds.size() > 1) {
      why.add(
          "Its rails' speeds differ, and stripes follow them: "
              + speeds.entrySet().stream()
                  .map(
                      speed ->
                          "%d at %s"
                              .formatted(
                                  speed.getValue(),
                                  speed.getKey() == 0
                                      ? "unknown speed, taken as the slowest"
                                      : speed.getKey() / 1_000_000 + " Mbit/s"))
                  .collect(Collectors.joining(", "))
              + ".");
    }
    return new DeviceGroup(
        nics.stream().map(LocatedNic::info).toList(),
        nics.stream().map(LocatedNic::path).toList(),
        why,
        1);
  }

  /**
   * Where NICs are together.
   *
   * @param below the path of the bridge above them; empty if they are on their own
   * @param accelerators how many devices to make there
   * @param why in words
   */
  private record Place(String below, int accelerators, String why) {}

  /**
   * A NIC and where it sits.
   *
   * @param info the NIC
   * @param path empty if unknown
   */
  private record LocatedNic(FabricInfo info, Optional<PciPath> path) {

    /** What has to be the same for NICs to serve as one device: what registrations look like. */
    Likeness likeness() {
      return new Likeness(
          info.provider(), info.registrationScope(), info.keyOwner(), info.addressing());
    }

    /** The IP subnet that it is in, such as {@code 10.77.0.0/24}, which is its network's name. */
    Optional<String> subnet() {
      return Optional.of(info.fabricName()).filter(name -> name.matches("[0-9a-f.:]+/[0-9]+"));
    }

    String name() {
      return info.domainName();
    }

    /** What NICs of one device have in common. */
    record Likeness(
        String provider, RegistrationScope scope, KeyOwner keyOwner, Addressing addressing) {}
  }
}
