package org.jofi.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.StringEntry;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A class contains the name of one of libfabric's providers, alone or with what it is layered
 * under. The strings of its constant pool are searched: the compiler puts a constant there too that
 * another class declares.
 */
final class ProviderNames extends ArchCondition<JavaClass> {
  private static final Pattern NAME =
      Pattern.compile("(efa|efa-direct|cxi|tcp|net|shm|sockets|verbs|udp|psm3|opx)(;.*)?");

  /** Words that only look like names, by class: the kinds of NICs in /sys/class. */
  private static final Map<String, Set<String>> OTHER_WORDS =
      Map.of("org.jofi.rdma.topology.SysfsPci", Set.of("net", "cxi"));

  ProviderNames() {
    super("contain a provider's name");
  }

  @Override
  public void check(JavaClass type, ConditionEvents events) {
    Set<String> others = OTHER_WORDS.getOrDefault(type.getName(), Set.of());
    strings(type)
        .filter(text -> NAME.matcher(text).matches() && !others.contains(text))
        .forEach(
            text ->
                events.add(
                    SimpleConditionEvent.satisfied(
                        type, "%s contains \"%s\"".formatted(type.getName(), text))));
  }

  private static Stream<String> strings(JavaClass type) {
    try (InputStream bytes = type.getSource().orElseThrow().getUri().toURL().openStream()) {
      return StreamSupport.stream(
              ClassFile.of().parse(bytes.readAllBytes()).constantPool().spliterator(), false)
          .filter(StringEntry.class::isInstance)
          .map(entry -> ((StringEntry) entry).stringValue());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
