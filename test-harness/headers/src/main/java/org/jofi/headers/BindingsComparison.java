package org.jofi.headers;

import java.lang.foreign.GroupLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Compares generated struct layouts and constants with what C headers say, and collects every
 * disagreement.
 *
 * <p>With headers older than the bindings, what they lack is noted as absent. It is a disagreement
 * only where a struct would not have grown at its end: a binding from the newer headers could then
 * not serve the older library.
 */
public final class BindingsComparison {
  private final HeaderAge age;
  private final Map<String, Long> header;
  private final List<String> disagreements = new ArrayList<>();
  private final List<String> absent = new ArrayList<>();
  private int compared;

  /**
   * Starts a comparison.
   *
   * @param age of the headers
   * @param header the headers' answers to the expressions of {@link #expressions} and to the
   *     constants' names
   */
  public BindingsComparison(HeaderAge age, Map<String, Long> header) {
    this.age = age;
    this.header = Map.copyOf(header);
  }

  /** The expressions that {@link #struct} needs the values of. */
  public static List<String> expressions(String type, GroupLayout layout) {
    List<String> expressions = new ArrayList<>();
    expressions.add(sizeOf(type));
    for (StructField field : StructField.of(layout)) {
      expressions.add(offsetOf(type, field));
      // C knows no size of an array without a length at the end of a struct.
      if (field.size() > 0) {
        expressions.add(sizeOf(type, field));
      }
    }
    return expressions;
  }

  /**
   * Compares a struct: its size, and offset and size of each field.
   *
   * @param type as C names it, {@code struct fi_info}
   */
  public void struct(String type, GroupLayout layout) {
    Long size = header.get(sizeOf(type));
    if (size == null) {
      lacks(type);
      return;
    }
    List<StructField> present = new ArrayList<>();
    List<StructField> missing = new ArrayList<>();
    for (StructField field : StructField.of(layout)) {
      Long fieldOffset = header.get(offsetOf(type, field));
      Long fieldSize = field.size() == 0 ? Long.valueOf(0) : header.get(sizeOf(type, field));
      if (fieldOffset == null || fieldSize == null) {
        missing.add(field);
      } else {
        present.add(field);
        equal("offset of " + type + "." + field.path(), field.offset(), fieldOffset);
        equal("size of " + type + "." + field.path(), field.size(), fieldSize);
      }
    }
    for (StructField field : missing) {
      lacks(type + "." + field.path());
      if (field.offset() < size && present.stream().noneMatch(field::sharesStorageWith)) {
        disagreements.add(type + "." + field.path() + " is missing before the end of the struct");
      }
    }
    boolean grown = missing.stream().anyMatch(field -> field.offset() >= size);
    size(type, layout.byteSize(), size, grown);
  }

  /** Compares a constant by its name; {@code bits} says how wide the generated one is. */
  public void constant(String name, long value, int bits) {
    Long expected = header.get(name);
    if (expected == null) {
      lacks(name);
    } else {
      equal(name, value, bits == Integer.SIZE ? expected.intValue() : expected);
    }
  }

  /** What differs; empty if the bindings fit the headers. */
  public List<String> disagreements() {
    return List.copyOf(disagreements);
  }

  /** What these older headers do not have. */
  public List<String> absent() {
    return List.copyOf(absent);
  }

  /** How many sizes, offsets and values were held against the headers' own. */
  public int compared() {
    return compared;
  }

  private void size(String type, long bindings, long headers, boolean grown) {
    boolean fits =
        switch (age) {
          case SAME -> headers == bindings;
          case OLDER -> headers == bindings || (grown && headers < bindings);
          case NEWER -> headers >= bindings;
        };
    compared++;
    if (!fits) {
      disagreements.add(
          "size of " + type + ": " + bindings + " in the bindings, " + headers + " in C");
    }
  }

  private void equal(String what, long bindings, long headers) {
    compared++;
    if (bindings != headers) {
      disagreements.add(what + ": " + bindings + " in the bindings, " + headers + " in C");
    }
  }

  private void lacks(String what) {
    absent.add(what);
    if (age != HeaderAge.OLDER) {
      disagreements.add(what + " is not in the headers");
    }
  }

  private static String sizeOf(String type) {
    return "sizeof(" + type + ")";
  }

  private static String sizeOf(String type, StructField field) {
    return "sizeof(((" + type + " *) 0)->" + field.path() + ")";
  }

  private static String offsetOf(String type, StructField field) {
    return "__builtin_offsetof(" + type + ", " + field.path() + ")";
  }
}
