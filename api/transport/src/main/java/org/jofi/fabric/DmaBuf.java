package org.jofi.fabric;

/**
 * A piece of a dma-buf: fi_mr(3), FI_MR_DMABUF.
 *
 * @param fd file descriptor of the dma-buf. The caller owns it, and may close it once the memory is
 *     registered: NICs hold on to the memory, not to the descriptor
 * @param offsetBytes where the piece starts in the dma-buf, 0 or more
 */
public record DmaBuf(int fd, long offsetBytes) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one of them is negative
   */
  public DmaBuf {
    if (fd < 0) {
      throw new IllegalArgumentException("dma-buf fd must be open, is " + fd);
    }
    if (offsetBytes < 0) {
      throw new IllegalArgumentException("dma-buf offset must be 0 or more, is " + offsetBytes);
    }
  }
}
