package org.jofi.nccl.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.module.ModuleDescriptor;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RuntimeImageTest {
  /** Sets of the JDK have another order in each process. */
  @Test
  void aDescriptorIsTheSameInEachProcess() {
    ModuleDescriptor module =
        ModuleDescriptor.newAutomaticModule("some.module")
            .packages(Set.of("h", "g", "f", "e", "d", "c", "b", "a"))
            .build();

    byte[] made =
        RuntimeImage.descriptor(
            module, Set.of("java.xml", "java.sql", "java.logging", "java.base"));

    ModuleAttribute attribute =
        ClassFile.of().parse(made).findAttribute(Attributes.module()).orElseThrow();
    assertEquals(
        List.of("a", "b", "c", "d", "e", "f", "g", "h"),
        attribute.exports().stream()
            .map(export -> export.exportedPackage().name().stringValue())
            .toList());
    assertEquals(
        List.of("java.base", "java.logging", "java.sql", "java.xml"),
        attribute.requires().stream()
            .map(required -> required.requires().name().stringValue())
            .toList());
  }
}
