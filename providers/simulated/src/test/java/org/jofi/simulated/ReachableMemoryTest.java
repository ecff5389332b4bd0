package org.jofi.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jofi.fabric.Access;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.fabric.RegionRequest;
import org.jofi.simulated.contract.Strictness;
import org.jofi.simulated.profile.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the simulated NICs could not touch without a fault of the process is refused. */
class ReachableMemoryTest {
  // So large that nothing else comes to lie over all of it.
  private static final long BYTES = 64 << 20;

  @TempDir private Path folder;

  @Test
  void aRangeThatWasMappedOnceIsNotTakenForMapped() throws IOException {
    Path file = Files.createFile(folder.resolve("mapped"));
    try (Pair pair = new Pair(Profile.EFA, builder -> builder.strictness(Strictness.ERRNO));
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      RegionRequest request;
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
        request = RegionRequest.host(mapped, Access.ALL);
        pair.left.register(request).close();
      }
      assertThrows(IllegalArgumentException.class, () -> pair.left.register(request));
    }
  }

  @Test
  void memoryOfARealDeviceIsRefusedAlsoBehindADmaBuf() {
    try (Pair pair = new Pair(Profile.EFA)) {
      MemorySegment memory = pair.memory(4096);
      RegionRequest request =
          new RegionRequest(
              MemoryKind.CUDA, 0, memory.address(), 4096, Access.ALL, 0, new DmaBuf(3, 0));
      FabricException refused =
          assertThrows(FabricException.class, () -> pair.left.register(request));
      assertEquals(FabricErrno.EOPNOTSUPP, refused.errno());
    }
  }
}
