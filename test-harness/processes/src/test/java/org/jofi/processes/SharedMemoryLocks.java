package org.jofi.processes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The locks in the shared memory of libfabric 1.15 to 1.19: struct smr_region, offset 24. */
final class SharedMemoryLocks {
  private static final long OFFSET = 24;
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private SharedMemoryLocks() {}

  /** Leaves the locks of all endpoints of that process as one leaves them who dies with them. */
  static void hold(long pid) throws IOException {
    int held = 0;
    try (DirectoryStream<Path> files =
            Files.newDirectoryStream(Path.of("/dev/shm"), pid + ":[0-9]*:[0-9]*");
        Arena arena = Arena.ofConfined()) {
      for (Path file : files) {
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          take(channel.map(FileChannel.MapMode.READ_WRITE, 0, OFFSET + Integer.BYTES, arena));
          held++;
        }
      }
    }
    if (held == 0) {
      throw new IllegalStateException("process %d has no endpoint in /dev/shm".formatted(pid));
    }
    System.out.printf("%d locks of process %d are held%n", held, pid);
  }

  /** Free is 1 on x86 and 0 elsewhere; nobody else takes it now. */
  private static void take(MemorySegment head) {
    int free = System.getProperty("os.arch").equals("amd64") ? 1 : 0;
    while (!INT.compareAndSet(head, OFFSET, free, 1 - free)) {
      Thread.onSpinWait();
    }
  }
}
