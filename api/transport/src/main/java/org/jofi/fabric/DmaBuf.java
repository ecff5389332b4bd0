package org.jofi.fabric;

/**
 * A piece of a dma-buf: fi_mr(3), FI_MR_DMABUF.
 *
 * @param fd file descriptor of the dma-buf. The caller owns it and keeps it open while the memory
 *     is registered
 * @param offsetBytes where the piece starts in the dma-buf, 0 or more
 */
public record DmaBuf(int fd, long offsetBytes) {
  public DmaBuf {
    if (fd < 0) {
      throw new IllegalArgumentException("dma-buf fd must be open, is " + fd);
    }
    if (offsetBytes < 0) {
      throw new IllegalArgumentException("dma-buf offset must be 0 or more, is " + offsetBytes);
    }
  }
}
