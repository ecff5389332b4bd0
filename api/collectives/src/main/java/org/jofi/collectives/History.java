package org.jofi.collectives;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jofi.collectives.schedule.Operation;
import org.jspecify.annotations.Nullable;

/**
 * What a rank began, in order, to be compared with what another one tells of itself. All ranks of a
 * group begin the same in the same order. For one thread; to begin something allocates nothing.
 */
final class History {
  /** How many operations back a rank tells of. */
  private static final int TOLD = 8;

  /** How many operations back it knows what it did, when another rank is so far behind. */
  private static final int KNOWN = 1024;

  /** What the store takes of a value, with some room. */
  private static final int MOST_BYTES = 60 << 10;

  /** Between the words of an operation and its lengths, to each rank and from each. */
  private static final String LENGTHS = "\t";

  /** The number of a line that is no operation, but says which two ranks do not do the same. */
  private static final long FOUND = 0;

  private final String[] begun = new String[KNOWN];
  private final @Nullable Operation[] byCounts = new @Nullable Operation[KNOWN];
  private long sequence;
  private String found = "";

  /**
   * @param words what begins, alike on all ranks
   * @param operation what it is
   */
  void begin(String words, Operation operation) {
    sequence++;
    begun[index(sequence)] = words;
    byCounts[index(sequence)] = operation.isByCounts() ? operation : null;
  }

  /** What this rank began last; empty if nothing yet. */
  String last() {
    return sequence == 0 ? "" : begun[index(sequence)];
  }

  /**
   * What this rank began last, a line for each, since another one may still be in an earlier one;
   * the last ones of them if not all fit.
   */
  String told() {
    List<String> lines = new ArrayList<>();
    int bytes = 0;
    for (long each = sequence; each > Math.max(0, sequence - TOLD); each--) {
      String line = each + " " + begun[index(each)] + lengths(byCounts[index(each)]);
      bytes += line.getBytes(StandardCharsets.UTF_8).length + 1;
      if (bytes > MOST_BYTES) {
        break;
      }
      lines.addFirst(line);
    }
    if (!found.isEmpty()) {
      lines.add(FOUND + " " + found);
    }
    return String.join("\n", lines);
  }

  private static String lengths(@Nullable Operation operation) {
    return operation == null
        ? ""
        : LENGTHS + joined(operation.sentEach()) + LENGTHS + joined(operation.receivedEach());
  }

  private static String joined(long[] lengths) {
    return Arrays.stream(lengths).mapToObj(Long::toString).collect(Collectors.joining(","));
  }

  /**
   * How another rank does something else than this one, as far as both know, or what it has found
   * out about others. From then on this rank tells that, too: ranks that do the same as these two
   * would not know why they go no further.
   *
   * @param told what {@link #told} returned there
   * @param me this rank's number in the group
   * @param other the other's
   * @param names of ranks, for the words
   * @return who does what; null if they do the same
   */
  @Nullable String difference(String told, int me, int other, IntFunction<String> names) {
    for (String line : told.split("\n", -1)) {
      int space = line.indexOf(' ');
      long number = space > 0 ? number(line.substring(0, space)) : -1;
      if (number == FOUND) {
        found = line.substring(space + 1);
      } else if (number > 0 && number <= sequence && number > sequence - KNOWN) {
        String[] two = difference(number, line.substring(space + 1), me, other);
        if (two != null) {
          found =
              "ranks do not do the same: %s is in %s; %s in %s"
                  .formatted(names.apply(me), two[0], names.apply(other), two[1]);
        }
      }
      if (!found.isEmpty()) {
        return found;
      }
    }
    return null;
  }

  private String @Nullable [] difference(long number, String told, int me, int other) {
    String[] its = told.split(LENGTHS, -1);
    String mine = begun[index(number)];
    if (!its[0].equals(mine)) {
      return new String[] {mine, its[0]};
    }
    Operation operation = byCounts[index(number)];
    if (operation == null || its.length != 3) {
      return null;
    }
    long sent = operation.sent(other);
    long awaited = number(its[2], me);
    if (awaited >= 0 && awaited != sent) {
      return new String[] {
        mine + ", which sends it %d".formatted(sent),
        its[0] + ", which awaits %d".formatted(awaited)
      };
    }
    long received = operation.received(other);
    long itsSent = number(its[1], me);
    return itsSent < 0 || itsSent == received
        ? null
        : new String[] {
          mine + ", which awaits %d from it".formatted(received),
          its[0] + ", which sends %d".formatted(itsSent)
        };
  }

  private static long number(String list, int index) {
    String[] numbers = list.split(",", -1);
    return index < numbers.length ? number(numbers[index]) : -1;
  }

  /** -1 for what is no number, which only another release would tell. */
  private static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static int index(long number) {
    return (int) (number % KNOWN);
  }
}
