package org.jofi.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.domain.JavaTypeVariable;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the project's modules show to programs: the packages that they export to all. */
final class Exports {
  /** Rules for tests are written as tests, so whoever uses them has JUnit. */
  private static final String RULES = "org.jofi.conformance";

  private static final Set<String> OF_RULES =
      Set.of("org.junit.jupiter.api", "org.apiguardian.api");

  /** Of the harness: software devices, which no program uses. */
  private static final Set<String> DOUBLES =
      Set.of(
          "org.jofi.abidouble", "org.jofi.efadouble", "org.jofi.nicdouble", "org.jofi.verbsdouble");

  private static final List<ModuleDescriptor> MODULES = modules();

  private static final Set<String> PACKAGES =
      MODULES.stream()
          .flatMap(module -> module.exports().stream())
          .filter(each -> !each.isQualified())
          .map(ModuleDescriptor.Exports::source)
          .collect(Collectors.toCollection(TreeSet::new));

  private Exports() {}

  private static List<ModuleDescriptor> modules() {
    List<ModuleDescriptor> found = new ArrayList<>();
    try {
      for (URL each :
          Collections.list(Exports.class.getClassLoader().getResources("module-info.class"))) {
        try (InputStream in = each.openStream()) {
          ModuleDescriptor module = ModuleDescriptor.read(in);
          if (module.name().startsWith(Layer.ROOT + ".") && !DOUBLES.contains(module.name())) {
            found.add(module);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  /** The packages that are exported to all. */
  static Set<String> packages() {
    return PACKAGES;
  }

  /** Modules that are not the project's, and that who requires one of the project's reads too. */
  static Set<String> foreignModules() {
    return MODULES.stream()
        .flatMap(
            module ->
                module.requires().stream()
                    .filter(
                        each ->
                            each.modifiers()
                                .contains(ModuleDescriptor.Requires.Modifier.TRANSITIVE))
                    .map(ModuleDescriptor.Requires::name)
                    .filter(name -> !name.startsWith(Layer.ROOT + ".") && !isOfTheJdk(name))
                    .filter(name -> !(module.name().equals(RULES) && OF_RULES.contains(name)))
                    .map(name -> module.name() + " requires " + name))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** A program that depends on the project depends on nothing else. */
  static Law signatures() {
    DescribedPredicate<JavaClass> exported =
        describe(
            "exported",
            type ->
                PACKAGES.contains(type.getPackageName())
                    && type.getModifiers().contains(JavaModifier.PUBLIC));
    return new Law(
        classes()
            .that(exported)
            .should(new OwnSignatures())
            .as("what is exported names types of the JDK and exported ones alone"),
        Stream.of(
                "public org.agrona.Idle idle;",
                "protected void wait(org.agrona.Idle[] idle) {}",
                "public java.util.List<? extends org.agrona.Idle> all() { return null; }",
                "public Bad(org.agrona.Idle idle) {}",
                "public <T extends org.agrona.Idle> void take(T idle) {}",
                "public static class Inner implements org.agrona.Idle {}",
                "public org.jofi.rdma.inner.Room room() { return null; }")
            .map(
                member ->
                    List.of(
                        "package org.agrona; public interface Idle {}",
                        "package org.jofi.rdma.inner; public class Room {}",
                        "package org.jofi.transport; public class Bad { " + member + " }"))
            .toList());
  }

  private static boolean isOfTheJdk(String name) {
    return name.startsWith("java.") || name.startsWith("jdk.");
  }

  /** Looks at all that a user of a class, or who extends it, can name. */
  private static final class OwnSignatures extends ArchCondition<JavaClass> {
    OwnSignatures() {
      super("name types of the JDK and exported ones alone");
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
      type.getSuperclass().ifPresent(each -> look(type, each, type.getName(), events));
      type.getInterfaces().forEach(each -> look(type, each, type.getName(), events));
      variables(type.getTypeParameters(), each -> look(type, each, type.getName(), events));
      for (JavaField field : type.getFields()) {
        if (isVisible(field)) {
          look(type, field.getType(), field.getFullName(), events);
        }
      }
      for (JavaCodeUnit unit : type.getCodeUnits()) {
        if (isVisible(unit)) {
          Consumer<JavaType> look = each -> look(type, each, unit.getFullName(), events);
          look.accept(unit.getReturnType());
          unit.getParameterTypes().forEach(look);
          unit.getExceptionTypes().forEach(look);
          variables(unit.getTypeParameters(), look);
        }
      }
    }

    private static boolean isVisible(JavaMember member) {
      Set<JavaModifier> modifiers = member.getModifiers();
      return !modifiers.contains(JavaModifier.SYNTHETIC)
          && (modifiers.contains(JavaModifier.PUBLIC)
              || modifiers.contains(JavaModifier.PROTECTED));
    }

    private static void variables(
        List<? extends JavaTypeVariable<?>> variables, Consumer<JavaType> look) {
      variables.forEach(variable -> variable.getUpperBounds().forEach(look));
    }

    private static void look(JavaClass of, JavaType type, String where, ConditionEvents events) {
      for (JavaClass each : type.getAllInvolvedRawTypes()) {
        if (!isAllowed(of, each.getBaseComponentType())) {
          events.add(SimpleConditionEvent.violated(of, where + " names " + each.getName()));
        }
      }
    }

    private static boolean isAllowed(JavaClass of, JavaClass type) {
      String room = type.getPackageName();
      return type.isPrimitive()
          || isOfTheJdk(type.getName())
          || PACKAGES.contains(room)
          || ((of.getPackageName() + ".").startsWith(RULES + ".") && OF_RULES.contains(room));
    }
  }
}
