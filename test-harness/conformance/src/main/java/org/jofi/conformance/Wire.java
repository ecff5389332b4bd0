package org.jofi.conformance;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import org.jofi.conformance.rule.Case;

/**
 * The lines between a child process and its parent: a mark, a word, and fields. What else comes out
 * of the child is a provider's, or the JVM's last words.
 */
final class Wire {
  static final String DESCRIPTION = "description";
  static final String UNAVAILABLE = "unavailable";
  static final String STARTED = "started";
  static final String ENDED = "ended";

  private static final String MARK = "@jofi-conform ";

  /** How many fields each has. */
  private static final Map<String, Integer> FIELDS =
      Map.of(DESCRIPTION, 4, UNAVAILABLE, 1, STARTED, 1, ENDED, 7);

  /**
   * A line of the child's.
   *
   * @param word what it is
   * @param fields what it says
   */
  record Message(String word, List<String> fields) {
    Message(String word, String... fields) {
      this(word, List.of(fields));
    }

    /** Without line breaks. */
    String encode() {
      StringJoiner line = new StringJoiner(" ", MARK, "");
      line.add(word);
      for (String field : fields) {
        line.add(URLEncoder.encode(field, StandardCharsets.UTF_8) + ".");
      }
      return line.toString();
    }

    String field(int index) {
      return fields.get(index);
    }
  }

  private Wire() {}

  /**
   * The message of that line, if it is one, and whole. A provider may have left an unfinished line
   * before, or print into it; and a child that crashes may not get to its end.
   */
  static Optional<Message> parse(String line) {
    int mark = line.indexOf(MARK);
    if (mark < 0) {
      return Optional.empty();
    }
    String[] words = line.substring(mark + MARK.length()).split(" ", -1);
    if (words.length - 1 != FIELDS.getOrDefault(words[0], -1)
        || !Arrays.stream(words).skip(1).allMatch(word -> word.endsWith("."))) {
      return Optional.empty();
    }
    try {
      List<String> fields =
          Arrays.stream(words)
              .skip(1)
              .map(
                  word ->
                      URLDecoder.decode(
                          word.substring(0, word.length() - 1), StandardCharsets.UTF_8))
              .toList();
      return Optional.of(new Message(words[0], fields));
    } catch (IllegalArgumentException notDecoded) {
      return Optional.empty();
    }
  }

  static Message description(Report.Description description) {
    return new Message(
        DESCRIPTION,
        description.subject(),
        description.source(),
        description.nic(),
        description.claims());
  }

  static Report.Description description(Message message) {
    return new Report.Description(
        message.field(0), message.field(1), message.field(2), message.field(3));
  }

  static Message result(Result result) {
    return new Message(
        ENDED,
        result.kase().id(),
        result.verdict().name(),
        result.reason(),
        result.expected(),
        result.happened(),
        result.where(),
        Long.toString(result.nanos()));
  }

  static Result result(Message message, Case kase) {
    return new Result(
        kase,
        Verdict.valueOf(message.field(1)),
        message.field(2),
        message.field(3),
        message.field(4),
        message.field(5),
        Long.parseLong(message.field(6)));
  }
}
