package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same checks on a GPU, in a process of its own: this one has loaded the stand-in. */
class GpuTest {

  @Test
  void theChecksHoldOnAGpu(@TempDir Path folder) throws Exception {
    assumeTrue(
        Files.exists(Path.of("/dev/nvidiactl")) || Files.exists(Path.of("/dev/dxg")),
        "not checked on a GPU: there is none in this machine");
    Path output = folder.resolve("output.txt");
    ProcessBuilder builder =
        new ProcessBuilder(
            CudaLoadingTest.java(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            GpuTrial.class.getName());
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    if (!process.waitFor(300, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("hangs: " + Files.readString(output));
    }
    String text = Files.readString(output);
    System.out.print(text);
    assertEquals(0, process.exitValue(), text);
    assertTrue(text.endsWith("all passed\n"), text);
  }
}
