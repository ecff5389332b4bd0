package org.jofi.ranks;

import java.util.Arrays;
import java.util.List;

/**
 * Nothing came in time, though nobody is known to be lost: some ranks did not start, or have not
 * called what the others wait in. The message names them.
 */
public final class RankTimeoutException extends RanksException {
  private static final long serialVersionUID = 1L;

  private final int[] missing;

  /**
   * A wait ended in vain.
   *
   * @param missing the numbers of the ranks that were waited for; empty if it is not known, or no
   *     rank was
   * @param message says what was waited for, and how long
   */
  public RankTimeoutException(List<Integer> missing, String message) {
    super(message);
    this.missing = missing.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * A wait ended in vain.
   *
   * @param missing the numbers of the ranks that were waited for; empty if it is not known, or no
   *     rank was
   * @param message says what was waited for, and how long
   * @param cause what was met
   */
  public RankTimeoutException(List<Integer> missing, String message, Throwable cause) {
    super(message, cause);
    this.missing = missing.stream().mapToInt(Integer::intValue).toArray();
  }

  /** {@return the numbers of the ranks that were waited for; empty if it is not known} */
  public List<Integer> missing() {
    return Arrays.stream(missing).boxed().toList();
  }
}
