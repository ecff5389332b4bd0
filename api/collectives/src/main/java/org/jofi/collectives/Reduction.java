package org.jofi.collectives;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How the elements of two arrays become one. In which order the arrays of the ranks are taken, two
 * by two, is the algorithm's matter, so that it has to be associative and commutative; that of
 * floating-point numbers is as far as rounding allows. All ranks get the same bits. Immutable; any
 * thread.
 */
public final class Reduction {
  /** Adds. Integers wrap around. */
  public static final Reduction SUM = new Reduction("sum", Rule.SUM, null);

  /** Multiplies. Integers wrap around. */
  public static final Reduction PRODUCT = new Reduction("product", Rule.PRODUCT, null);

  /** Takes the lesser one; not a number if one of them is none. */
  public static final Reduction MIN = new Reduction("min", Rule.MIN, null);

  /** Takes the greater one; not a number if one of them is none. */
  public static final Reduction MAX = new Reduction("max", Rule.MAX, null);

  /** Adds all, then divides by the number of ranks; integers are rounded towards zero. */
  public static final Reduction AVERAGE = new Reduction("average", Rule.AVERAGE, null);

  /** What is done with two elements. */
  enum Rule {
    SUM,
    PRODUCT,
    MIN,
    MAX,
    AVERAGE,
    OWN
  }

  private final String name;
  private final Rule rule;
  private final @Nullable Combiner combiner;

  private Reduction(String name, Rule rule, @Nullable Combiner combiner) {
    this.name = name;
    this.rule = rule;
    this.combiner = combiner;
  }

  /**
   * {@return a reduction of one's own}
   *
   * @param name the same on all ranks, for messages; ranks that name it differently refuse to
   *     reduce
   * @param combiner combines two ranges; called by the thread that runs the operation. Of the same
   *     two elements it has to make the same bits, whichever of them comes first
   * @throws IllegalArgumentException if the name is empty or has more than a line
   */
  public static Reduction of(String name, Combiner combiner) {
    if (name.isEmpty() || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("a reduction needs a name in one line");
    }
    return new Reduction(Objects.requireNonNull(name), Rule.OWN, Objects.requireNonNull(combiner));
  }

  /** {@return its name} */
  public String name() {
    return name;
  }

  /** {@return what is done with two elements} */
  Rule rule() {
    return rule;
  }

  /** {@return how it combines; null for one of those that are known here} */
  @Nullable Combiner combiner() {
    return combiner;
  }

  @Override
  public String toString() {
    return name;
  }
}
