package org.jofi.rdma.memory;

import org.agrona.BitUtil;

/**
 * How buffers lie in their blocks.
 *
 * @param bufferBytes length of a buffer, 1 or more
 * @param alignmentBytes what buffers are aligned to: a power of two, at most a page
 * @param growth buffers that a block is to have at least; it has what else fits its pages
 * @param most buffers altogether
 * @param pageBytes size of a page: what blocks are aligned to, and a multiple of; a power of two
 */
public record BufferShape(
    int bufferBytes, int alignmentBytes, int growth, int most, int pageBytes) {

  public BufferShape {
    if (bufferBytes < 1
        || !BitUtil.isPowerOfTwo(pageBytes)
        || !BitUtil.isPowerOfTwo(alignmentBytes)
        || alignmentBytes > pageBytes
        || growth < 1
        || most < growth) {
      throw new IllegalArgumentException(
          "%d up to %d buffers of %d bytes, aligned to %d in pages of %d"
              .formatted(growth, most, bufferBytes, alignmentBytes, pageBytes));
    }
    if ((long) most * BitUtil.align(bufferBytes, alignmentBytes) > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "%d buffers of %d bytes are more than 2 GiB".formatted(most, bufferBytes));
    }
  }

  int strideBytes() {
    return BitUtil.align(bufferBytes, alignmentBytes);
  }

  /** Length of a block: whole pages. */
  int blockBytes() {
    return BitUtil.align(growth * strideBytes(), pageBytes);
  }
}
