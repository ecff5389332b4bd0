package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import org.jofi.libfabric.bindings.Libfabric;

/**
 * The two exported functions of libfabric that lead to everything else: what they return has tables
 * of functions. Whoever stands in between here stands between the provider and the library, and
 * costs nothing on the data path.
 *
 * <p>Any thread. Neither call may throw.
 */
public interface EntryPoints {
  /** The library's own. */
  EntryPoints LIBRARY =
      new EntryPoints() {
        @Override
        public int getinfo(
            int version,
            MemorySegment node,
            MemorySegment service,
            long flags,
            MemorySegment hints,
            MemorySegment infos) {
          return Libfabric.fi_getinfo(version, node, service, flags, hints, infos);
        }

        @Override
        public int fabric(MemorySegment attributes, MemorySegment fabric, MemorySegment context) {
          return Libfabric.fi_fabric(attributes, fabric, context);
        }
      };

  /**
   * fi_getinfo(3). The list comes from the library; whoever asked frees it with fi_freeinfo.
   *
   * @param infos where the list's head is written
   * @return 0 or a negative fi_errno
   */
  int getinfo(
      int version,
      MemorySegment node,
      MemorySegment service,
      long flags,
      MemorySegment hints,
      MemorySegment infos);

  /**
   * fi_fabric(3).
   *
   * @param fabric where the pointer to the struct fid_fabric is written
   * @return 0 or a negative fi_errno
   */
  int fabric(MemorySegment attributes, MemorySegment fabric, MemorySegment context);
}
