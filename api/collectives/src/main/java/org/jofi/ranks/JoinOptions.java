package org.jofi.ranks;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** How ranks join. Immutable. */
public final class JoinOptions {
  /** The environment variable from which {@link #defaults} takes the secret. */
  public static final String SECRET_VARIABLE = "JOFI_BOOTSTRAP_SECRET";

  private final String secret;
  private final Map<String, String> parameters;
  private final RankNames names;
  private final boolean serves;

  private JoinOptions(
      String secret, Map<String, String> parameters, RankNames names, boolean serves) {
    this.secret = secret;
    this.parameters = parameters;
    this.names = names;
    this.serves = serves;
  }

  /**
   * What suits most programs: the secret of the environment variable {@value #SECRET_VARIABLE}, if
   * it is set, and no parameters; the first rank serves.
   *
   * @return these options
   */
  public static JoinOptions defaults() {
    String secret = System.getenv(SECRET_VARIABLE);
    return new JoinOptions(secret == null ? "" : secret, Map.of(), RankNames.NUMBERS, true);
  }

  /**
   * Replaces the secret, which ranks prove to each other's server that they know.
   *
   * @param text the same for all ranks; empty if whoever can connect may join
   * @return these options with it
   */
  public JoinOptions withSecret(String text) {
    return new JoinOptions(Objects.requireNonNull(text), parameters, names, serves);
  }

  /**
   * Replaces what must be the same for all ranks: if it is not, none of them joins, and the message
   * names the difference.
   *
   * @param all values by name, 64 at most
   * @return these options with them
   * @throws IllegalArgumentException if there are more
   */
  public JoinOptions withParameters(Map<String, String> all) {
    if (all.size() > Hello.MOST_PARAMETERS) {
      throw new IllegalArgumentException(
          "%d parameters can be compared, not %d".formatted(Hello.MOST_PARAMETERS, all.size()));
    }
    return new JoinOptions(
        secret, Collections.unmodifiableMap(new LinkedHashMap<>(all)), names, serves);
  }

  /**
   * Replaces what messages call ranks.
   *
   * @param words names, and what to do
   * @return these options with them
   */
  public JoinOptions withNames(RankNames words) {
    return new JoinOptions(secret, parameters, Objects.requireNonNull(words), serves);
  }

  /**
   * Has the first rank serve, or not: then a {@link RankServer} is opened by what starts the ranks.
   * Where the environment says that what started the process serves, the first rank does not serve
   * in either case.
   *
   * @param first whether it does
   * @return these options with that
   */
  public JoinOptions withServing(boolean first) {
    return new JoinOptions(secret, parameters, names, first);
  }

  String secret() {
    return secret;
  }

  Map<String, String> parameters() {
    return parameters;
  }

  RankNames names() {
    return names;
  }

  boolean serves() {
    return serves;
  }

  /** All but the secret. */
  @Override
  public String toString() {
    return "%s, parameters %s%s"
        .formatted(
            secret.isEmpty() ? "no secret" : "with a secret",
            parameters,
            serves ? ", the first rank serves" : "");
  }
}
