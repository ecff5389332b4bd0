package org.jofi.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class AddressSpaceTest {
  private static Optional<String> with(String soft) {
    return AddressSpace.warning(
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max cpu time              unlimited            unlimited            seconds
        Max address space         %-20s unlimited            bytes
        Max file locks            unlimited            unlimited            locks
        """
            .formatted(soft));
  }

  @Test
  void aLimitThatAJvmReachesIsTold() {
    String words = with("2147483648").orElseThrow();
    assertTrue(words.contains("2048 MiB") && words.contains("ulimit -v"), words);
    assertEquals(Optional.empty(), with("unlimited"));
    assertEquals(Optional.empty(), with(Long.toString(64L << 30)));
    assertEquals(Optional.empty(), AddressSpace.warning("of another system"));
  }
}
