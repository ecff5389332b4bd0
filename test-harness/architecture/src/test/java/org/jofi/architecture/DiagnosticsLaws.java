package org.jofi.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;

/** Logs and events are told in one way, so that who operates jofi knows all of them. */
final class DiagnosticsLaws {
  private static final String DIAGNOSTICS = Layer.TRANSPORT.packageName() + ".diagnostics";

  private static final DescribedPredicate<JavaClass> OUTSIDE =
      Layer.ofTheProject()
          .and(
              not(
                  describe(
                      "in " + DIAGNOSTICS,
                      (JavaClass type) -> type.getPackageName().equals(DIAGNOSTICS))));

  private DiagnosticsLaws() {}

  /** The names of loggers are in one list, and each class has a limit. */
  static Law oneWayToLog() {
    return new Law(
        noClasses()
            .that(OUTSIDE)
            .should()
            .accessTargetWhere(
                describe(
                    "gets a logger",
                    (JavaAccess<?> access) -> access.getTarget().getName().equals("getLogger")))
            .orShould()
            .dependOnClassesThat(
                describe(
                    "are another way to log",
                    (JavaClass type) -> type.getPackageName().equals("java.util.logging")))
            .as("loggers have the names of Log.Name"),
        List.of(
            List.of(
                "package org.jofi.rdma; class Rail { System.Logger log = System.getLogger(\"rail\"); }"),
            List.of("package org.jofi.cli; class Rank { java.util.logging.Logger log = null; }")));
  }

  /** The first event of a process starts all of JFR: whether anybody records is asked before. */
  static Law oneWayToTellEvents() {
    return new Law(
        noClasses()
            .that(OUTSIDE)
            .should()
            .dependOnClassesThat(
                describe(
                    "are JFR's, without the question whether anybody records",
                    (JavaClass type) -> type.getName().equals("jdk.jfr.FlightRecorder")))
            .orShould()
            .beAssignableTo("jdk.jfr.Event")
            .as("events are told through Events"),
        List.of(
            List.of("package org.jofi.rdma; class LostEvent extends jdk.jfr.Event {}"),
            List.of(
                "package org.jofi.mr; class Cache { boolean on = jdk.jfr.FlightRecorder.isInitialized(); }")));
  }
}
