package org.jofi.conformance;

import java.nio.file.Path;
import java.util.List;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.subject.Subject;
import org.jofi.conformance.subject.Subjects;

/** How this module's tests start child processes. */
final class Children {
  private Children() {}

  /** The java for the libfabric under test. */
  static Path java() {
    String java = System.getProperty("jofi.test.java", "");
    return java.isEmpty() ? ChildRunner.ownJava() : Path.of(java);
  }

  static List<String> properties() {
    String library = System.getProperty("jofi.libfabric", "");
    return library.isEmpty() ? List.of() : List.of("jofi.libfabric=" + library);
  }

  /** Runs cases of a class of this module. */
  static Report run(Class<? extends Subject> subject, List<Case> cases) throws Exception {
    return new ChildRunner(Subjects.CLASS + subject.getName(), null, java(), properties())
        .run(cases, result -> {});
  }
}
