package org.jofi.libfabric;

import java.lang.foreign.MemorySegment;
import org.jofi.libfabric.bindings.Libfabric;

/**
 * The two exported functions of libfabric through which everything else is reached: the objects
 * that they return have tables of functions. Another implementation can put itself between this
 * provider and the library, without any cost on the data path.
 *
 * <p>Any thread. Neither call may throw.
 */
public interface EntryPoints {
  /** The functions of the library itself. */
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
   * fi_getinfo(3). The library allocates the list, and the caller frees it with fi_freeinfo.
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
