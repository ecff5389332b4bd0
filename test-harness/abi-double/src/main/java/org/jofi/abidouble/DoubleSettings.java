package org.jofi.abidouble;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What the double pretends to have negotiated. FI_MR_ENDPOINT and FI_MR_ALLOCATED always, addresses
 * are offsets into regions.
 *
 * @param providerKeys the double chooses keys, 8 bytes of them (FI_MR_PROV_KEY); otherwise the
 *     caller does, 4 bytes
 * @param localDescriptors local buffers need descriptors (FI_MR_LOCAL), which CXI does without
 * @param writeData whether fi_writedata is there; CXI has it since libfabric 2.5, and not always
 * @param board a file shared by the doubles of all processes that talk to each other, in which each
 *     tells the others of its regions; empty if all of them are in this process
 */
public record DoubleSettings(
    boolean providerKeys, boolean localDescriptors, boolean writeData, Optional<Path> board) {

  /** As CXI is today: provider keys, no descriptors for local buffers, fi_writedata. */
  public static DoubleSettings cxi() {
    return new DoubleSettings(true, false, true, Optional.empty());
  }

  /** CXI with keys of the caller's. */
  public static DoubleSettings cxiWithClientKeys() {
    return new DoubleSettings(false, false, true, Optional.empty());
  }

  /** These, with descriptors for local buffers. */
  public DoubleSettings withLocalDescriptors() {
    return new DoubleSettings(providerKeys, true, writeData, board);
  }

  /** These, without fi_writedata. */
  public DoubleSettings withoutWriteData() {
    return new DoubleSettings(providerKeys, localDescriptors, false, board);
  }

  /** These, with that board. */
  public DoubleSettings withBoard(Path file) {
    return new DoubleSettings(providerKeys, localDescriptors, writeData, Optional.of(file));
  }
}
