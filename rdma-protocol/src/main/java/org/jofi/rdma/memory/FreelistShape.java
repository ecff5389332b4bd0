package org.jofi.rdma.memory;

import org.agrona.BitUtil;

/**
 * How a freelist's entries are laid out.
 *
 * @param entryBytes length of an entry, 1 or more
 * @param alignmentBytes what entries are aligned to: a power of two, at most a page
 * @param growthEntries entries that a block is to have at least; it has what else fits its pages
 * @param maxEntries most entries altogether
 * @param pageBytes size of a page: what blocks are aligned to, and a multiple of; a power of two
 */
public record FreelistShape(
    int entryBytes, int alignmentBytes, int growthEntries, int maxEntries, int pageBytes) {

  public FreelistShape {
    if (entryBytes < 1
        || !BitUtil.isPowerOfTwo(pageBytes)
        || !BitUtil.isPowerOfTwo(alignmentBytes)
        || alignmentBytes > pageBytes
        || growthEntries < 1
        || maxEntries < growthEntries) {
      throw new IllegalArgumentException(
          "%d up to %d entries of %d bytes, aligned to %d in pages of %d"
              .formatted(growthEntries, maxEntries, entryBytes, alignmentBytes, pageBytes));
    }
    if ((long) maxEntries * strideBytes(entryBytes, alignmentBytes) > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "%d entries of %d bytes are more than 2 GiB".formatted(maxEntries, entryBytes));
    }
  }

  public int strideBytes() {
    return strideBytes(entryBytes, alignmentBytes);
  }

  /** Length of a block: whole pages. */
  public int blockBytes() {
    return BitUtil.align(growthEntries * strideBytes(), pageBytes);
  }

  public int blockEntries() {
    return blockBytes() / strideBytes();
  }

  private static int strideBytes(int entryBytes, int alignmentBytes) {
    return BitUtil.align(entryBytes, alignmentBytes);
  }
}
