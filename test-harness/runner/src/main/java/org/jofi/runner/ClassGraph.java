package org.jofi.runner;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which classes name which others, as their class files tell. Nested classes count as their outer
 * one.
 */
final class ClassGraph {
  private final Map<String, Set<String>> namedBy = new HashMap<>();

  /** Reads every class file below a folder; one that is not there holds none. */
  void add(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file :
          (Iterable<Path>) files.filter(one -> one.toString().endsWith(".class"))::iterator) {
        read(ClassFile.of().parse(file));
      }
    }
  }

  private void read(ClassModel type) {
    String name = outer(type.thisClass().asInternalName());
    for (PoolEntry entry : type.constantPool()) {
      if (entry instanceof ClassEntry other) {
        String named = outer(other.asInternalName());
        if (!named.equals(name)) {
          namedBy.computeIfAbsent(named, _ -> new HashSet<>()).add(name);
        }
      }
    }
  }

  private static String outer(String name) {
    int nested = name.indexOf('$');
    return (nested < 0 ? name : name.substring(0, nested)).replace('/', '.');
  }

  /** How many steps each class that reaches one of these is away from the nearest of them. */
  Map<String, Integer> distances(Collection<String> classes) {
    Map<String, Integer> distances = new HashMap<>();
    Deque<String> open = new ArrayDeque<>();
    for (String name : classes) {
      distances.put(name, 0);
      open.add(name);
    }
    while (!open.isEmpty()) {
      String name = open.removeFirst();
      int next = distances.getOrDefault(name, 0) + 1;
      for (String other : namedBy.getOrDefault(name, Set.of())) {
        if (distances.putIfAbsent(other, next) == null) {
          open.addLast(other);
        }
      }
    }
    return distances;
  }
}
