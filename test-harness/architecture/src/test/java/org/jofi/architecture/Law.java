package org.jofi.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.conditions.ArchConditions;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A rule, together with programs that break it.
 *
 * @param rule holds for the project
 * @param violations each a program of a few source files that the rule has to reject
 */
record Law(ArchRule rule, List<List<String>> violations) {
  /** Who catches an interrupt and throws something else has to pass it on. */
  private static final Set<String> STAYING_INTERRUPTED = Set.of("currentThread", "interrupt");

  private static final Set<String> CLOCKS_AND_CHANCE =
      Set.of(
          "java.lang.ThreadLocal",
          "java.security.SecureRandom",
          "java.time.Clock",
          "java.time.InstantSource",
          "java.util.Random",
          "java.util.Timer",
          "java.util.SplittableRandom",
          "java.util.concurrent.CompletableFuture",
          "java.util.concurrent.Executors",
          "java.util.concurrent.ForkJoinPool",
          "java.util.concurrent.ThreadLocalRandom",
          "java.util.concurrent.locks.LockSupport",
          "org.agrona.concurrent.AgentRunner",
          "org.agrona.concurrent.HighResolutionClock",
          "org.agrona.concurrent.SystemEpochClock",
          "org.agrona.concurrent.SystemEpochMicroClock",
          "org.agrona.concurrent.SystemEpochNanoClock",
          "org.agrona.concurrent.SystemNanoClock");

  private static final Set<String> READINGS =
      Set.of(
          "java.lang.System.nanoTime",
          "java.lang.System.currentTimeMillis",
          "java.lang.Math.random",
          "java.lang.StrictMath.random",
          "java.util.UUID.randomUUID",
          "java.util.random.RandomGenerator.getDefault",
          "java.util.random.RandomGenerator.of");

  /** Of the test harness; stands where a native library would, so that it speaks its language. */
  private static final DescribedPredicate<JavaClass> BOUNDARY_DOUBLE =
      describe(
          "the double at the C boundary",
          type -> type.getPackageName().equals("org.jofi.abidouble"));

  private static final DescribedPredicate<JavaClass> KNOWS_PROVIDERS =
      describe(
          "the traits of libfabric's providers",
          type -> type.getName().equals("org.jofi.libfabric.LibfabricTraits"));

  private static final Pattern EMPTY_NAME = Pattern.compile(".+(Impl|Managers?|Utils?|Helpers?)");

  /** Words that are not the field's: it says connection, path, backoff, listener. */
  private static final Pattern PRIVATE_NAME =
      Pattern.compile(
          "(.*[a-z0-9])?"
              + "(Sides?|Directions?|Patience|Grants|Parties|Behind|Transit|Door|Meeting"
              + "|Shipment|Keeper|Deaf)"
              + "([A-Z].*)?");

  private static final Pattern NEEDS_INTERNALS =
      Pattern.compile(
          "org\\.agrona\\.(UnsafeApi|BufferUtil|concurrent\\.(UnsafeBuffer|status\\..*|\\w+Queue))");

  private static final String RUNTIME = "org.jofi.runtime";

  static Stream<Law> all() {
    return Stream.concat(
        Stream.of(Layer.values()).map(Law::layering),
        Stream.of(
            harnessUnused(),
            bindingsPrivate(),
            linkerInProviders(),
            noClock(),
            noReading(),
            noInternals(),
            oneWayIntoLocks(),
            oneLock(),
            EngineLaws.engineWithoutInput(),
            EngineLaws.driverWithoutProtocol(),
            DiagnosticsLaws.oneWayToLog(),
            DiagnosticsLaws.oneWayToTellEvents(),
            Exports.signatures(),
            noCycles(),
            providerNames(),
            names()));
  }

  /** A layer uses those below it and nothing else of the project. */
  private static Law layering(Layer layer) {
    Set<Layer> allowed = EnumSet.of(layer);
    allowed.addAll(layer.uses());
    List<List<String>> violations = new ArrayList<>();
    for (Layer forbidden : EnumSet.complementOf(EnumSet.copyOf(allowed))) {
      violations.add(
          List.of(
              "package " + forbidden.packageName() + "; public class Forbidden {}",
              "package "
                  + layer.packageName()
                  + ".inner; class User { "
                  + forbidden.packageName()
                  + ".Forbidden field; }"));
    }
    return new Law(
        classes()
            .that(Layer.in(Set.of(layer)))
            .should()
            .onlyDependOnClassesThat(
                Layer.in(allowed).or(not(Layer.in(EnumSet.allOf(Layer.class)))))
            .as(layer.packageName() + " uses of the other layers none but " + layer.uses())
            .allowEmptyShould(true),
        violations);
  }

  private static Law harnessUnused() {
    DescribedPredicate<JavaClass> layers = Layer.in(EnumSet.allOf(Layer.class));
    return new Law(
        noClasses()
            .that(layers)
            .should()
            .dependOnClassesThat(Layer.ofTheProject().and(not(layers)))
            .as("no layer uses the test harness or the command line"),
        List.of(
            List.of(
                "package org.jofi.cli; public class Command {}",
                "package org.jofi.rdma; class Sender extends org.jofi.cli.Command {}"),
            List.of(
                "package org.jofi.conformance; public class Suite { public static void run() {} }",
                "package org.jofi.libfabric; class Probe { void run() { org.jofi.conformance.Suite.run(); } }")));
  }

  private static Law bindingsPrivate() {
    return new Law(
        noClasses()
            .that(not(Layer.in(Layer.natives())).and(not(BOUNDARY_DOUBLE)))
            .should()
            .dependOnClassesThat(Layer.in(Layer.generated()))
            .as("generated bindings are used by their neighbour, and by the double below it"),
        List.of(
            List.of(
                "package org.jofi.libfabric.bindings; public class fi_info {}",
                "package org.jofi.cli; class Info { org.jofi.libfabric.bindings.fi_info info; }"),
            List.of(
                "package org.jofi.cuda.bindings; public class CudaDriver { public static int cuInit(int f) { return f; } }",
                "package org.jofi.rdma; class Flush { int x = org.jofi.cuda.bindings.CudaDriver.cuInit(0); }")));
  }

  private static Law linkerInProviders() {
    return new Law(
        noClasses()
            .that(Layer.ofTheProject().and(not(Layer.in(Layer.linking()))))
            .should()
            .dependOnClassesThat(
                describe(
                    "are the native linker",
                    type ->
                        type.getName().startsWith("java.lang.foreign.Linker")
                            || type.getName().equals("java.lang.foreign.SymbolLookup")))
            .as("native functions are called in the native providers and the NCCL plugin alone"),
        List.of(
            List.of(
                "package org.jofi.rdma; class Fast { Object l = java.lang.foreign.Linker.nativeLinker(); }"),
            List.of(
                "package org.jofi.mr; class Pin { java.lang.foreign.Linker.Option o ="
                    + " java.lang.foreign.Linker.Option.critical(false); }"),
            List.of(
                "package org.jofi.cli; class Doctor { java.lang.foreign.SymbolLookup lookup; }")));
  }

  private static Law noClock() {
    return new Law(
        noClasses()
            .that(Layer.in(Layer.deterministic()))
            .should()
            .dependOnClassesThat(
                describe(
                    "are clocks, threads or random sources",
                    type -> CLOCKS_AND_CHANCE.contains(type.getName())))
            .orShould()
            .accessTargetWhere(
                describe(
                    "uses a thread for more than to stay interrupted",
                    (JavaAccess<?> access) ->
                        access.getTargetOwner().getName().equals(Thread.class.getName())
                            && !STAYING_INTERRUPTED.contains(access.getTarget().getName())))
            .as("the protocol and the cache hold no thread, clock or random source of their own")
            .allowEmptyShould(true),
        List.of(
            List.of("package org.jofi.rdma; class Poller extends Thread {}"),
            List.of("package org.jofi.rdma; class Poller { void idle() { Thread.onSpinWait(); } }"),
            List.of("package org.jofi.mr; class Evictor { java.time.Clock clock; }"),
            List.of(
                "package org.jofi.rdma; class Nonce { java.util.Random random = new java.util.Random(); }"),
            List.of(
                "package org.jofi.rdma; class Nonce { Object r = new java.security.SecureRandom(); }"),
            List.of(
                "package org.jofi.mr; class Evictor { int n ="
                    + " java.util.concurrent.ThreadLocalRandom.current().nextInt(); }")));
  }

  private static Law noReading() {
    return new Law(
        noClasses()
            .that(Layer.in(Layer.deterministic()))
            .should()
            .accessTargetWhere(
                describe(
                    "reads the wall clock or draws a number",
                    (JavaAccess<?> access) -> reads(access.getTarget())))
            .as("the protocol and the cache are handed time and randomness")
            .allowEmptyShould(true),
        List.of(
            List.of("package org.jofi.rdma; class Deadline { long start = System.nanoTime(); }"),
            List.of("package org.jofi.mr; class Age { long start = System.currentTimeMillis(); }"),
            List.of(
                "package org.jofi.mr; class Age { java.util.function.LongSupplier now = System::nanoTime; }"),
            List.of("package org.jofi.rdma; class Chance { double x = Math.random(); }"),
            List.of(
                "package org.jofi.rdma; class Deadline { Object start = java.time.Instant.now(); }")));
  }

  /**
   * What works with Unsafe needs the JDK's internals opened, by an option of whoever starts java.
   */
  private static Law noInternals() {
    return new Law(
        noClasses()
            .that(Layer.ofTheProject())
            .should()
            .dependOnClassesThat(
                describe(
                    "need --add-opens",
                    type ->
                        NEEDS_INTERNALS.matcher(type.getName()).matches()
                            || type.getPackageName().startsWith("jdk.internal.")
                            || type.getName().equals("sun.misc.Unsafe")))
            .as("nothing needs the internals of the JDK"),
        List.of(
            List.of(
                "package org.agrona.concurrent; public class UnsafeBuffer {}",
                "package org.jofi.mr; class Copier { org.agrona.concurrent.UnsafeBuffer from; }"),
            List.of(
                "package org.agrona.concurrent.status; public class CountersManager {}",
                "package org.jofi.mr; class Counts { org.agrona.concurrent.status.CountersManager in; }"),
            List.of("package org.jofi.cli; class Copier { sun.misc.Unsafe unsafe; }")));
  }

  /** Who announces itself and forgets to say that it entered holds up the progress thread. */
  private static Law oneWayIntoLocks() {
    String executor = Layer.RDMA.packageName() + ".spi.ProgressExecutor";
    String lock = Layer.RDMA.packageName() + ".device.EndpointLock";
    return new Law(
        noClasses()
            .that(
                Layer.in(Set.of(Layer.RDMA))
                    .and(describe("not the lock", type -> !type.getName().equals(lock))))
            .should()
            .accessTargetWhere(
                describe(
                    "speaks to a progress thread",
                    (JavaAccess<?> access) -> access.getTargetOwner().isAssignableTo(executor)))
            .as("an endpoint's lock alone speaks to its progress thread"),
        Stream.of("announce", "entered", "ask")
            .map(
                call ->
                    List.of(
                        "package org.jofi.rdma.spi; public abstract class ProgressExecutor { public abstract void "
                            + call
                            + "(); }",
                        "package org.jofi.rdma.communicator; class Comm { void send(org.jofi.rdma.spi.ProgressExecutor e) { e."
                            + call
                            + "(); } }"))
            .toList());
  }

  /** What is over an endpoint has one lock, which its progress thread enters in the same class. */
  private static Law oneLock() {
    String lock = Layer.RDMA.packageName() + ".device.EndpointLock";
    DescribedPredicate<JavaClass> locks =
        describe(
            "locks",
            type ->
                type.getPackageName().equals("java.util.concurrent.locks")
                    && !type.getSimpleName().equals("LockSupport"));
    return new Law(
        noClasses()
            .that(
                Layer.in(Set.of(Layer.RDMA))
                    .or(describe("the runtime", type -> type.getPackageName().equals(RUNTIME)))
                    .and(describe("not the lock", type -> !isOf(type, lock))))
            .should()
            .dependOnClassesThat(locks)
            .as("an endpoint's lock is entered in one class"),
        Stream.of("org.jofi.rdma.engine", RUNTIME)
            .map(
                of ->
                    List.of(
                        "package "
                            + of
                            + "; class Round { java.util.concurrent.locks.ReentrantLock lock; }"))
            .toList());
  }

  private static boolean isOf(JavaClass type, String outer) {
    return type.getName().equals(outer) || type.getName().startsWith(outer + "$");
  }

  private static Law noCycles() {
    return new Law(
        SlicesRuleDefinition.slices()
            .assignedFrom(new Packages())
            .should()
            .beFreeOfCycles()
            .as("packages do not use each other in a circle"),
        List.of(
            List.of(
                "package org.jofi.rdma; public class Environment { org.jofi.rdma.device.Nic nic; }",
                "package org.jofi.rdma.device; public class Nic { org.jofi.rdma.Environment in; }"),
            List.of(
                "package org.jofi.mr.a; public class A { org.jofi.mr.b.B next; }",
                "package org.jofi.mr.b; public class B { org.jofi.mr.c.C next; }",
                "package org.jofi.mr.c; public class C { org.jofi.mr.a.A next; }")));
  }

  /** Every package by itself. */
  private static final class Packages implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return Layer.ofTheProject().test(type)
          ? SliceIdentifier.of(type.getPackageName())
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "packages";
    }
  }

  private static Law providerNames() {
    return new Law(
        noClasses()
            .that(Layer.in(Layer.nameless()).and(not(KNOWS_PROVIDERS)))
            .should(new ProviderNames())
            .as("libfabric's providers are named in LibfabricTraits alone")
            .allowEmptyShould(true),
        List.of(
            List.of("package org.jofi.rdma; class Rank { String last = \"shm\"; }"),
            List.of("package org.jofi.mr; class Keys { Object all = java.util.Set.of(\"cxi\"); }"),
            List.of(
                "package org.jofi.libfabric; class Errors { boolean old(String provider) {"
                    + " return provider.equals(\"tcp;ofi_rxm\"); } }"),
            List.of(
                "package org.jofi.fabric; class Order { int of(String provider) {"
                    + " return switch (provider) { case \"efa-direct\" -> 1; default -> 0; }; } }"),
            List.of(
                "package org.jofi.libfabric; class LibfabricTraits { static final String NET = \"net\"; }",
                "package org.jofi.libfabric; class Sockets { String name = LibfabricTraits.NET; }"),
            List.of("package org.jofi.rdma.topology; class SysfsPci { String name = \"tcp\"; }")));
  }

  private static Law names() {
    return new Law(
        noClasses()
            .that(Layer.ofTheProject().and(not(Layer.in(Layer.generated()))))
            .should(
                ArchConditions.be(
                    describe(
                        "named for nothing",
                        (JavaClass type) ->
                            EMPTY_NAME.matcher(type.getSimpleName()).matches()
                                || PRIVATE_NAME.matcher(type.getSimpleName()).matches())))
            .as("names say what a class is, in the field's words"),
        Stream.of(
                "EndpointImpl",
                "RailManager",
                "ByteUtil",
                "ByteUtils",
                "CloseHelper",
                "Side",
                "SendSide",
                "SideKeeper",
                "LeftBehindCheck")
            .map(name -> List.of("package org.jofi.rdma; class " + name + " {}"))
            .toList());
  }

  private static boolean reads(AccessTarget target) {
    String owner = target.getOwner().getName();
    return READINGS.contains(owner + "." + target.getName())
        || (owner.startsWith("java.time.") && target.getName().equals("now"));
  }

  @Override
  public String toString() {
    return rule.getDescription();
  }
}
