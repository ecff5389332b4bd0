package org.jofi.doctor;

import java.util.List;

/**
 * One line of a diagnosis.
 *
 * @param check name of the check, such as {@code peermem}
 * @param subject what was checked, such as {@code GPU0}; empty if it is the whole machine
 * @param verdict the result
 * @param summary what was found, and what it means
 * @param read the files and variables that it is based on
 * @param remedy what to do, such as a command to type; empty if nothing is wrong
 */
public record Finding(
    String check,
    String subject,
    Verdict verdict,
    String summary,
    List<String> read,
    String remedy) {

  /**
   * @throws IllegalArgumentException if the verdict says that something is wrong and there is no
   *     remedy
   */
  public Finding {
    read = List.copyOf(read);
    if (remedy.isEmpty() && (verdict == Verdict.WARN || verdict == Verdict.FAIL)) {
      throw new IllegalArgumentException(check + " names no remedy: " + summary);
    }
  }

  static Finding pass(String check, String subject, String summary, List<String> read) {
    return new Finding(check, subject, Verdict.PASS, summary, read, "");
  }

  static Finding skip(String check, String subject, String summary, List<String> read) {
    return new Finding(check, subject, Verdict.SKIP, summary, read, "");
  }

  static Finding warn(
      String check, String subject, String summary, List<String> read, String remedy) {
    return new Finding(check, subject, Verdict.WARN, summary, read, remedy);
  }

  static Finding fail(
      String check, String subject, String summary, List<String> read, String remedy) {
    return new Finding(check, subject, Verdict.FAIL, summary, read, remedy);
  }

  /** The check and its subject. */
  public String title() {
    return subject.isEmpty() ? check : check + " " + subject;
  }
}
