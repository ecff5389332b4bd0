package org.jofi.headers;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.PaddingLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * A field of a generated layout.
 *
 * @param path its name as C writes it, with dots into nested structs and unions
 * @param offset bytes from the start of the struct
 * @param size bytes
 */
public record StructField(String path, long offset, long size) {
  /** Every field of a layout, those of nested structs and unions included. */
  public static List<StructField> of(GroupLayout layout) {
    List<StructField> fields = new ArrayList<>();
    collect(layout, "", 0, fields);
    return fields;
  }

  /** True if both occupy the same bytes, as the members of a union may. */
  public boolean sharesStorageWith(StructField other) {
    return offset == other.offset && size == other.size;
  }

  private static void collect(
      GroupLayout group, String prefix, long start, List<StructField> fields) {
    for (MemoryLayout member : group.memberLayouts()) {
      if (member instanceof PaddingLayout) {
        continue;
      }
      String name =
          member
              .name()
              .orElseThrow(() -> new IllegalArgumentException("nameless field in " + group));
      long offset = start + group.byteOffset(PathElement.groupElement(name));
      // jextract's name for an unnamed member, whose fields C reads as the parent's own.
      boolean anonymous = name.startsWith("$anon$");
      if (!anonymous) {
        fields.add(new StructField(prefix + name, offset, member.byteSize()));
      }
      if (member instanceof GroupLayout nested) {
        collect(nested, anonymous ? prefix : prefix + name + ".", offset, fields);
      }
    }
  }
}
