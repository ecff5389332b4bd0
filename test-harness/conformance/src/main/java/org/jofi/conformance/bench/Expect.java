package org.jofi.conformance.bench;

import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jspecify.annotations.Nullable;

/** What a case demands; each throws {@link BrokenRuleException} if it is not so. */
public final class Expect {
  private Expect() {}

  /** The condition holds. */
  public static void that(boolean condition, String expected, String happened) {
    if (!condition) {
      throw new BrokenRuleException(expected, happened);
    }
  }

  /** The numbers are equal. */
  public static void same(String what, long expected, long found) {
    that(
        expected == found,
        "%s to be %d".formatted(what, expected),
        "it is %d (0x%x)".formatted(found, found));
  }

  /** The call throws one of these; which one. */
  @SafeVarargs
  public static RuntimeException refused(
      String what, Runnable call, Class<? extends RuntimeException>... types) {
    @Nullable RuntimeException thrown = null;
    try {
      call.run();
    } catch (RuntimeException e) {
      thrown = e;
    }
    for (Class<? extends RuntimeException> type : types) {
      if (thrown != null && type.isInstance(thrown)) {
        return thrown;
      }
    }
    throw new BrokenRuleException(
        what + " to be refused", thrown == null ? "it was accepted" : "it threw " + thrown);
  }

  /** The call throws {@link FabricException} with one of these errnos. */
  public static void refusedWith(String what, Runnable call, int... errnos) {
    int errno = ((FabricException) refused(what, call, FabricException.class)).errno();
    StringBuilder names = new StringBuilder();
    for (int allowed : errnos) {
      if (errno == allowed) {
        return;
      }
      names.append(names.isEmpty() ? "" : " or ").append(FabricErrno.name(allowed));
    }
    throw new BrokenRuleException(
        what + " to be refused with " + names, "it was refused with " + FabricErrno.name(errno));
  }

  /** What a posting call returned, in words. */
  public static String code(int code) {
    return code >= 0 ? Integer.toString(code) : "-FI_" + FabricErrno.name(-code);
  }
}
