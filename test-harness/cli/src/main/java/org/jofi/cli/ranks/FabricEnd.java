package org.jofi.cli.ranks;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.ProviderRelease;
import org.jofi.ranks.Ranks;
import org.jofi.ranks.RanksException;
import org.jofi.transport.DeviceProperties;

/**
 * What a rank chose, as the others are told before any two connect: who typed different things may
 * have chosen alike, and the same words may mean different things to different libraries.
 *
 * @param jofi the release of jofi: {@link #JOFI}
 * @param host its machine's name
 * @param kernel tells machines apart: the kernel's, since it was started
 * @param network tells network namespaces of a machine apart
 * @param fabric the fabric's version and file
 * @param provider libfabric's name of the provider
 * @param rails its NICs, in the order of rails
 */
public record FabricEnd(
    String jofi,
    String host,
    String kernel,
    String network,
    String fabric,
    String provider,
    List<Rail> rails) {
  /** This release. */
  public static final String JOFI = "jofi 0.1.0";

  /**
   * One of its NICs.
   *
   * @param address over IP, without a port; may be empty
   * @param subnet over IP; else the provider's name of the network
   * @param megabitsPerSecond 0 if unknown
   * @param mtu largest packet in bytes; empty if unknown
   */
  public record Rail(
      String nic, String address, String subnet, long megabitsPerSecond, String mtu) {
    String words() {
      return nic
          + (address.isEmpty() ? "" : " " + address)
          + (subnet.isEmpty() ? "" : " in " + subnet)
          + (megabitsPerSecond == 0 ? "" : ", %d Mbit/s".formatted(megabitsPerSecond))
          + (mtu.isEmpty() ? "" : ", MTU " + mtu);
    }
  }

  private static final Pattern LIBFABRIC =
      Pattern.compile("libfabric ([0-9]{1,3})\\.([0-9]{1,3})\\b.*");

  static final String NOT_UNDERSTOOD =
      "a rank told what %s does not understand; run one release on all".formatted(JOFI);

  private static final Gson GSON = new Gson();
  private static final String SHARED_MEMORY = "shm";
  private static final int MOST_LISTED = 8;

  /** What this rank chose. */
  public static FabricEnd of(FabricChoice fabric, RankDevice device) {
    DeviceProperties properties = device.device().properties();
    return new FabricEnd(
        JOFI,
        text("/proc/sys/kernel/hostname"),
        text("/proc/sys/kernel/random/boot_id"),
        link("/proc/self/ns/net"),
        fabric.notice(),
        properties.provider(),
        properties.rails().stream().map(FabricEnd::rail).toList());
  }

  private static Rail rail(DeviceProperties.Rail rail) {
    boolean isName = !rail.nic().contains("/");
    return new Rail(
        rail.nic(),
        rail.address().replaceFirst(":0$", "").replaceAll("[\\[\\]]", ""),
        rail.fabric(),
        rail.speedMegabitsPerSecond(),
        isName ? text("/sys/class/net/" + rail.nic() + "/mtu") : "");
  }

  private static String text(String file) {
    try {
      return Files.readString(Path.of(file), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "";
    }
  }

  private static String link(String file) {
    try {
      return Files.readSymbolicLink(Path.of(file)).toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** The same with other rails. */
  FabricEnd with(List<Rail> others) {
    return new FabricEnd(jofi, host, kernel, network, fabric, provider, others);
  }

  /**
   * Tells all ranks what this one chose, and hears it of them.
   *
   * @param timeout how long to wait for the others
   * @return what they chose, and which of their rails are common to all
   * @throws RankFailure if two of them cannot be connected; the message says why, names what both
   *     chose, and what to do
   * @throws RanksException if a rank is lost
   */
  public static CommonRails exchange(Ranks bootstrap, FabricEnd mine, Duration timeout) {
    List<FabricEnd> told =
        bootstrap.gather(GSON.toJson(mine).getBytes(StandardCharsets.UTF_8), timeout).stream()
            .map(FabricEnd::read)
            .toList();
    CommonRails common = CommonRails.of(told);
    List<FabricEnd> all = common.ends();
    for (int rank = 1; rank < all.size(); rank++) {
      Optional<String> obstacle = all.getFirst().obstacle(all.get(rank));
      if (obstacle.isPresent()) {
        throw new RankFailure(
            Guide.CONNECTIONS.after(
                "%s and %s cannot be connected: %s%s"
                    .formatted(
                        bootstrap.name(0),
                        bootstrap.name(rank),
                        obstacle.get(),
                        lines(bootstrap, told, List.of(0, rank)))));
      }
    }
    return common;
  }

  /**
   * What another rank told.
   *
   * @throws RanksException if that is no such thing
   */
  static FabricEnd read(byte[] told) {
    try {
      FabricEnd end = GSON.fromJson(new String(told, StandardCharsets.UTF_8), FabricEnd.class);
      if (end != null && end.isWhole()) {
        end.release();
        return end;
      }
    } catch (JsonParseException | IllegalArgumentException e) {
      throw new RanksException(NOT_UNDERSTOOD, e);
    }
    throw new RanksException(NOT_UNDERSTOOD);
  }

  /** Whether nothing is missing of what another rank told. */
  private boolean isWhole() {
    return Stream.of(jofi, host, kernel, network, fabric, provider).noneMatch(Objects::isNull)
        && rails != null
        && !rails.isEmpty()
        && rails.stream()
            .allMatch(
                rail ->
                    rail != null
                        && Stream.of(rail.nic, rail.address, rail.subnet, rail.mtu)
                            .noneMatch(Objects::isNull));
  }

  /** Why this end and another one cannot be connected, and what to do; empty if they can. */
  Optional<String> obstacle(FabricEnd other) {
    if (!jofi.equals(other.jofi)) {
      return Optional.of(
          "they are of different releases, %s and %s; run one on both".formatted(jofi, other.jofi));
    }
    Optional<String> stranger =
        FabricProvider.named("libfabric").obstacle(release(), other.release());
    if (stranger.isPresent()) {
      return stranger;
    }
    if (provider.equals(SHARED_MEMORY)) {
      return kernel.equals(other.kernel)
          ? Optional.empty()
          : Optional.of(
              "shared memory does not lead from one machine to another; choose another provider with -p");
    }
    return isElsewhere(other)
        ? IntStream.range(0, rails.size())
            .filter(rail -> isItself(rails.get(rail), other.rails.get(rail)))
            .mapToObj(
                rail ->
                    "rail %d has the address %s at both, which leads each back to itself; choose NICs that reach the other with -d"
                        .formatted(rail, rails.get(rail).address))
            .findFirst()
        : Optional.empty();
  }

  /** What it speaks; without a version where it is no libfabric. */
  private ProviderRelease release() {
    Matcher version = LIBFABRIC.matcher(fabric);
    return version.matches()
        ? new ProviderRelease(
            provider, Integer.parseInt(version.group(1)), Integer.parseInt(version.group(2)))
        : new ProviderRelease(provider, 0, 0);
  }

  /**
   * Whether another end is on another machine, or in another network namespace of this one.
   *
   * @param other the other end
   * @return false if the kernel carries what goes there without any NIC
   */
  public boolean isElsewhere(FabricEnd other) {
    return !kernel.equals(other.kernel) || !network.equals(other.network);
  }

  private static boolean isItself(Rail one, Rail other) {
    return !one.address.isEmpty() && one.address.equals(other.address);
  }

  /**
   * A failure to connect, with what all ends chose, since only these together show why a NIC does
   * not reach another one.
   *
   * @param server where the ranks met
   */
  public static String explain(
      String failure, String server, Ranks bootstrap, List<FabricEnd> all) {
    List<Integer> ranks = IntStream.range(0, Math.min(all.size(), MOST_LISTED)).boxed().toList();
    return Guide.CONNECTIONS.after(
        "%s%nThe ranks reach each other at %s, but not over these NICs; choose others with -d, or let firewalls pass them, with --ports if they limit ports:%s"
            .formatted(failure, server, lines(bootstrap, all, ranks)));
  }

  private static String lines(Ranks bootstrap, List<FabricEnd> all, List<Integer> ranks) {
    return ranks.stream()
        .map(
            rank ->
                "%n  %s at %s: %s"
                    .formatted(bootstrap.name(rank), all.get(rank).host, all.get(rank).words()))
        .collect(Collectors.joining());
  }

  private String words() {
    return "%s, %s, provider %s%s"
        .formatted(
            jofi,
            fabric,
            provider,
            IntStream.range(0, rails.size())
                .mapToObj(rail -> "; rail %d %s".formatted(rail, rails.get(rail).words()))
                .collect(Collectors.joining()));
  }
}
