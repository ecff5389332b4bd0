package org.jofi.cli.collectives;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jofi.collectives.DataType;
import org.jofi.collectives.Reduction;
import org.jofi.collectives.schedule.Operation;

/** The words of the command line for operations, types and reductions. */
public final class Names {
  private static final List<Reduction> REDUCTIONS =
      List.of(Reduction.SUM, Reduction.PRODUCT, Reduction.MIN, Reduction.MAX, Reduction.AVERAGE);

  private Names() {}

  /**
   * The operations of these names, each once; all if there are none.
   *
   * @throws IllegalArgumentException if a name is none; the message names those that there are
   */
  public static List<Operation.Kind> operations(List<String> names) {
    List<Operation.Kind> all = Arrays.asList(Operation.Kind.values());
    return names.isEmpty()
        ? all
        : names.stream()
            .map(name -> named("operation", name, all, Operation.Kind::toString))
            .distinct()
            .toList();
  }

  /**
   * The type of a name.
   *
   * @throws IllegalArgumentException if there is none; the message names those that there are
   */
  public static DataType type(String name) {
    return named("type", name, Arrays.asList(DataType.values()), Names::of);
  }

  /**
   * The reduction of a name.
   *
   * @throws IllegalArgumentException if there is none; the message names those that there are
   */
  public static Reduction reduction(String name) {
    return named("reduction", name, REDUCTIONS, Reduction::name);
  }

  /** The name of a type. */
  public static String of(DataType type) {
    return type.name().toLowerCase(Locale.ROOT);
  }

  private static <T> T named(String what, String name, List<T> all, Function<T, String> nameOf) {
    return all.stream()
        .filter(each -> nameOf.apply(each).equals(name.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no %s '%s'; there are %s"
                        .formatted(
                            what, name, String.join(", ", all.stream().map(nameOf).toList()))));
  }
}
