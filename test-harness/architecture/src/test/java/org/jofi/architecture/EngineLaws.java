package org.jofi.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.conditions.ArchConditions;
import java.util.List;
import java.util.stream.Stream;

/** What holds the two halves of the protocol apart. */
final class EngineLaws {
  private EngineLaws() {}

  private static DescribedPredicate<JavaClass> below(String description, String... packages) {
    return describe(
        description,
        type ->
            Stream.of(packages)
                .anyMatch(
                    name ->
                        type.getPackageName().equals(name)
                            || type.getPackageName().startsWith(name + ".")));
  }

  /** It can be run by itself, on time that a test makes up, as often as one likes. */
  static Law engineWithoutInput() {
    String rdma = Layer.RDMA.packageName();
    String engine = rdma + ".engine";
    DescribedPredicate<JavaClass> outside =
        below(
            "the fabric, the driver, threads, locks or clocks",
            "org.jofi.fabric",
            rdma + ".driver",
            rdma + ".nic",
            rdma + ".connect",
            rdma + ".device",
            rdma + ".communicator",
            rdma + ".spi",
            "java.util.concurrent",
            "org.agrona.concurrent");
    return new Law(
        noClasses()
            .that(
                below(
                    "the engine",
                    engine,
                    rdma + ".request",
                    rdma + ".onesided",
                    rdma + ".operation"))
            .should()
            .dependOnClassesThat(outside)
            .orShould(
                ArchConditions.have(
                    describe(
                        "synchronized methods",
                        (JavaClass type) ->
                            type.getMethods().stream()
                                .anyMatch(
                                    method ->
                                        method
                                            .getModifiers()
                                            .contains(JavaModifier.SYNCHRONIZED)))))
            .as("the engine has no fabric, lock, thread or clock")
            .allowEmptyShould(true),
        List.of(
            List.of(
                "package org.jofi.fabric; public class Endpoint {}",
                "package " + engine + "; class Send { org.jofi.fabric.Endpoint through; }"),
            List.of(
                "package " + rdma + ".driver; public class RailPort {}",
                "package " + engine + ".inner; class Send { " + rdma + ".driver.RailPort port; }"),
            List.of(
                "package "
                    + engine
                    + "; class Send { java.util.concurrent.atomic.AtomicLong sent; }"),
            List.of("package " + engine + "; class Send { synchronized void send() {} }"),
            List.of(
                "package "
                    + rdma
                    + ".operation; class Tasks { java.util.concurrent.locks.ReentrantLock lock; }")));
  }

  /** It posts what it is handed, whatever protocol that is of. */
  static Law driverWithoutProtocol() {
    String rdma = Layer.RDMA.packageName();
    return new Law(
        noClasses()
            .that(below("the driver", rdma + ".driver", rdma + ".nic"))
            .should()
            .dependOnClassesThat(
                below(
                    "the protocol",
                    rdma + ".engine",
                    rdma + ".request",
                    rdma + ".onesided",
                    rdma + ".connect",
                    rdma + ".sequence"))
            .as("the driver knows no protocol")
            .allowEmptyShould(true),
        List.of(
            List.of(
                "package " + rdma + ".engine; public class Request {}",
                "package " + rdma + ".driver; class Rail { " + rdma + ".engine.Request request; }"),
            List.of(
                "package " + rdma + ".connect; public class ConnectionTable {}",
                "package "
                    + rdma
                    + ".driver; class Rail { "
                    + rdma
                    + ".connect.ConnectionTable table; }")));
  }
}
