package org.jofi.headers;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A comparison that cannot fail proves nothing: each way in which bindings and headers part is
 * shown to be seen.
 */
class BindingsComparisonTest {
  private static final GroupLayout RAIL =
      MemoryLayout.structLayout(
          JAVA_INT.withName("id"),
          MemoryLayout.paddingLayout(4),
          MemoryLayout.unionLayout(JAVA_LONG.withName("speed"), JAVA_LONG.withName("rate"))
              .withName("$anon$7:1"),
          MemoryLayout.unionLayout(JAVA_INT.withName("cuda")).withName("device"),
          MemoryLayout.paddingLayout(4),
          JAVA_LONG.withName("late"),
          MemoryLayout.sequenceLayout(0, JAVA_LONG).withName("open"));

  private final Map<String, Long> header = new HashMap<>(agreeing());

  @Test
  void findsFieldsThroughUnnamedAndNamedMembers() {
    assertEquals(
        List.of(
            new StructField("id", 0, 4),
            new StructField("speed", 8, 8),
            new StructField("rate", 8, 8),
            new StructField("device", 16, 4),
            new StructField("device.cuda", 16, 4),
            new StructField("late", 24, 8),
            new StructField("open", 32, 0)),
        StructField.of(RAIL));
  }

  @Test
  void equalLayoutsAgree() {
    BindingsComparison comparison = compare(HeaderAge.SAME);

    assertEquals(List.of(), comparison.disagreements());
    assertEquals(15, comparison.compared());
  }

  @Test
  void movedFieldIsSeen() {
    header.put("__builtin_offsetof(struct rail, device.cuda)", 20L);

    assertEquals(
        List.of("offset of struct rail.device.cuda: 16 in the bindings, 20 in C"),
        compare(HeaderAge.OLDER).disagreements());
  }

  @Test
  void widenedFieldIsSeen() {
    header.put("sizeof(((struct rail *) 0)->id)", 8L);

    assertEquals(
        List.of("size of struct rail.id: 4 in the bindings, 8 in C"),
        compare(HeaderAge.NEWER).disagreements());
  }

  @Test
  void olderHeadersMayLackTheEndOfAStruct() {
    removeField("late");
    removeField("open");
    header.put("sizeof(struct rail)", 24L);

    BindingsComparison comparison = compare(HeaderAge.OLDER);

    assertEquals(List.of(), comparison.disagreements());
    assertEquals(List.of("struct rail.late", "struct rail.open"), comparison.absent());
  }

  @Test
  void olderHeadersMayLackAnotherNameForTheSameBytes() {
    removeField("rate");

    BindingsComparison comparison = compare(HeaderAge.OLDER);

    assertEquals(List.of(), comparison.disagreements());
    assertEquals(List.of("struct rail.rate"), comparison.absent());
  }

  @Test
  void olderHeadersMustNotLackTheMiddleOfAStruct() {
    removeField("id");

    assertEquals(
        List.of("struct rail.id is missing before the end of the struct"),
        compare(HeaderAge.OLDER).disagreements());
  }

  @Test
  void olderHeadersMustNotHaveALongerStruct() {
    header.put("sizeof(struct rail)", 40L);

    assertEquals(
        List.of("size of struct rail: 32 in the bindings, 40 in C"),
        compare(HeaderAge.OLDER).disagreements());
    assertEquals(List.of(), compare(HeaderAge.NEWER).disagreements());
  }

  @Test
  void olderStructMustNotBeShorterForNoReason() {
    header.put("sizeof(struct rail)", 24L);

    assertEquals(
        List.of("size of struct rail: 32 in the bindings, 24 in C"),
        compare(HeaderAge.OLDER).disagreements());
  }

  @Test
  void sameHeadersMustHaveEverything() {
    removeField("rate");
    header.remove("RAIL_DOWN");

    BindingsComparison comparison = compare(HeaderAge.SAME);
    comparison.constant("RAIL_DOWN", -3, Integer.SIZE);

    assertEquals(
        List.of("struct rail.rate is not in the headers", "RAIL_DOWN is not in the headers"),
        comparison.disagreements());
  }

  @Test
  void structThatIsMissingAltogetherIsAbsent() {
    BindingsComparison comparison = new BindingsComparison(HeaderAge.OLDER, Map.of());
    comparison.struct("struct rail", RAIL);

    assertEquals(List.of("struct rail"), comparison.absent());
  }

  @Test
  void constantsAreComparedInTheirOwnWidth() {
    header.put("RAIL_TOP", 1L << 31);
    header.put("RAIL_WIDE", 1L << 31);
    BindingsComparison comparison = new BindingsComparison(HeaderAge.SAME, header);
    comparison.constant("RAIL_TOP", 1 << 31, Integer.SIZE);
    comparison.constant("RAIL_WIDE", 1 << 31, Long.SIZE);

    assertEquals(
        List.of("RAIL_WIDE: -2147483648 in the bindings, 2147483648 in C"),
        comparison.disagreements());
  }

  private BindingsComparison compare(HeaderAge age) {
    BindingsComparison comparison = new BindingsComparison(age, header);
    comparison.struct("struct rail", RAIL);
    return comparison;
  }

  private void removeField(String path) {
    header.remove("__builtin_offsetof(struct rail, " + path + ")");
    header.remove("sizeof(((struct rail *) 0)->" + path + ")");
  }

  private static Map<String, Long> agreeing() {
    Map<String, Long> values = new HashMap<>();
    values.put("sizeof(struct rail)", RAIL.byteSize());
    // As in C, the open array at the end has an offset and no size.
    for (StructField field : StructField.of(RAIL)) {
      values.put("__builtin_offsetof(struct rail, " + field.path() + ")", field.offset());
      if (!field.path().equals("open")) {
        values.put("sizeof(((struct rail *) 0)->" + field.path() + ")", field.size());
      }
    }
    return values;
  }
}
