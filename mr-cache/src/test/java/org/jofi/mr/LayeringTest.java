package org.jofi.mr;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.foreign.Linker;
import java.time.Instant;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Time is handed in; threads, randomness and native calls are other modules' business. */
class LayeringTest {
  private final JavaClasses classes =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("org.jofi.mr");

  @Test
  void usesNoThreadRandomnessClockOrLinker() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(Random.class, SplittableRandom.class, Instant.class, Linker.class)
        .check(classes);
    // The one that waits leaves an interrupt for its callers.
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName("org.jofi.mr.cache.CacheLedger")
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(Thread.class)
        .check(classes);
    noClasses().should().callMethod(System.class, "nanoTime").check(classes);
    noClasses().should().callMethod(System.class, "currentTimeMillis").check(classes);
  }

  @Test
  void dependsOnTheFabricOnly() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.jofi.rdma..", "org.jofi.libfabric..", "org.jofi.simulated..")
        .check(classes);
  }
}
