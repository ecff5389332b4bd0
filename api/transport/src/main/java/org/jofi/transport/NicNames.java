package org.jofi.transport;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Which NICs may be used, by their names, as NCCL's variables {@code NCCL_SOCKET_IFNAME} and {@code
 * NCCL_IB_HCA} take them. Immutable; any thread.
 *
 * <ul>
 *   <li>{@code eth,ib}: those whose names begin with one of these
 *   <li>{@code =eth0,eth1}: those with exactly one of these names
 *   <li>{@code ^docker,virbr}: all but those whose names begin with one of these
 *   <li>{@code ^=eth3}: all but those with exactly one of these names
 *   <li>nothing: all
 * </ul>
 */
public final class NicNames {
  /** All of them. */
  public static final NicNames ANY = new NicNames("");

  private final String text;
  private final boolean excluding;
  private final boolean exact;
  private final List<String> names;

  private NicNames(String text) {
    this.text = text;
    excluding = text.startsWith("^");
    String rest = excluding ? text.substring(1) : text;
    exact = rest.startsWith("=");
    names =
        Arrays.stream((exact ? rest.substring(1) : rest).split(",", -1))
            .map(String::strip)
            .filter(name -> !name.isEmpty())
            .toList();
  }

  /**
   * Reads a list of names.
   *
   * @param text as above; spaces around names do not count
   * @return the names
   * @throws IllegalArgumentException if signs are followed by no name
   */
  public static NicNames of(String text) {
    NicNames names = new NicNames(text.strip());
    if (names.names.isEmpty() && !names.text.isEmpty()) {
      throw new IllegalArgumentException("'%s' names no NIC".formatted(text));
    }
    return names;
  }

  /**
   * {@return whether a NIC may be used}
   *
   * @param nic its name, such as {@code eth0}
   */
  public boolean admits(String nic) {
    if (names.isEmpty()) {
      return true;
    }
    boolean named =
        names.stream().anyMatch(name -> exact ? nic.equals(name) : nic.startsWith(name));
    return named != excluding;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NicNames names && names.text.equals(text);
  }

  @Override
  public int hashCode() {
    return Objects.hashCode(text);
  }

  /** The names, as they were given. */
  @Override
  public String toString() {
    return text;
  }
}
