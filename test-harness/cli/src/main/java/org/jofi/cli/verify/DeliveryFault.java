package org.jofi.cli.verify;

/** What went wrong with a message. */
public enum DeliveryFault {
  /** Nothing: every byte is where it belongs, and no other byte changed. */
  NONE("delivered", ""),
  /** The transport reported a failure, so there is no false success. */
  REPORTED(
      "failed, and said so",
      "read the error: it names the operation and the NIC. Then: ./jofi doctor"),
  /** The target did not change. */
  NOTHING_ARRIVED(
      "nothing arrived, though success was reported",
      "the NIC wrote nothing, or into other memory: check that the GPU's pages are mapped for it"
          + " (lsmod | grep nvidia_peermem, or dma-buf) and that the IOMMU and PCIe ACS allow it"
          + " (./jofi doctor)"),
  /** The data is in another place. */
  WRONG_PLACE(
      "it arrived in the wrong place",
      "the address or the offset that the NIC was given is not the buffer's: compare the region's"
          + " base with the allocation's, and the dma-buf's offset"),
  /** Only part of the data arrived. */
  PARTIAL(
      "only a part arrived, though success was reported",
      "compare BAR1 with what is registered (nvidia-smi -q -d MEMORY), and try one rail"),
  /** There are bytes that were never sent. */
  CORRUPTED(
      "bytes arrived that nobody sent",
      "suspect the path between NIC and GPU: look at dmesg for AER and IOMMU faults"),
  /** The data arrived after success was reported. */
  EARLY_COMPLETION(
      "success was reported before the bytes were there",
      "the provider completes early: use one that completes on delivery, and report it"),
  /** The data had arrived, but the owner of the memory saw old bytes until a flush. */
  STALE_UNTIL_FLUSH(
      "the bytes could be seen only after a flush",
      "flush after each receive (iflush; FlushPolicy.AUTO does so for GPU memory), never skip it");

  private final String words;
  private final String advice;

  DeliveryFault(String words, String advice) {
    this.words = words;
    this.advice = advice;
  }

  /** A few words that describe it. */
  public String words() {
    return words;
  }

  /** What to do; empty if nothing. */
  public String advice() {
    return advice;
  }

  /** Its name in JSON, such as {@code nothing-arrived}. */
  public String option() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
