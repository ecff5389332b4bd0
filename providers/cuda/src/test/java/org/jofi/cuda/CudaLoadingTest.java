package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.MemoryKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each in a process of its own: a driver is loaded once. */
class CudaLoadingTest {
  @TempDir private Path folder;

  /** Finds the provider, says what is mapped, probes, and says so again. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
      DeviceMemoryProvider provider = DeviceMemoryProvider.of(MemoryKind.CUDA).orElseThrow();
      System.out.println("found " + provider.kind());
      System.out.println("before " + CudaDouble.mapped("libcuda").count());
      DeviceProbe probe = provider.probe();
      System.out.println("after " + CudaDouble.mapped("libcuda").count());
      System.out.println(probe.isUsable() ? "devices " + probe.devices().size() : "no devices");
      System.out.println(probe.obstacle());
      System.out.println("remedy " + probe.remedy());
    }
  }

  /** The java for child processes. */
  static String java() {
    String java = System.getProperty("jofi.test.java", "");
    return java.isEmpty() ? Path.of(System.getProperty("java.home"), "bin/java").toString() : java;
  }

  private String run(String library) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(
            java(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-Djofi.cuda=" + library,
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName());
    builder.environment().remove(CudaLibrary.VARIABLE);
    Path output = Files.createTempFile(folder, "output", ".txt");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("loading hangs");
    }
    String text = Files.readString(output);
    assertEquals(0, process.exitValue(), text);
    return text;
  }

  @Test
  void findingTheProviderLoadsNothing() throws Exception {
    String text = run(CudaDouble.file().toString());
    assertTrue(text.contains("found CUDA\nbefore 0\n"), text);
    assertTrue(text.contains("devices 2"), text);
    assertTrue(!text.contains("after 0"), text);
  }

  @Test
  void noDriverIsAnAnswerWithARemedy() throws Exception {
    String text = run(folder.resolve("libcuda.so.1").toString());
    assertTrue(text.contains("no devices\nno CUDA driver: libcuda.so.1"), text);
    assertTrue(text.contains(folder + "/libcuda.so.1"), text);
    assertTrue(text.contains("remedy Install the NVIDIA driver"), text);
    assertTrue(text.contains("-Djofi.cuda=PATH or JOFI_CUDA=PATH"), text);
  }

  @Test
  void anotherLibraryIsToldApart() throws Exception {
    Path other = folder.resolve("libcuda.so.1");
    Path source = Files.writeString(folder.resolve("other.c"), "int other(void) { return 1; }\n");
    CudaDouble.file();
    Process gcc =
        new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", other.toString(), source.toString())
            .inheritIO()
            .start();
    assertTrue(gcc.waitFor(60, TimeUnit.SECONDS), "gcc hangs");
    String text = run(other.toString());
    assertTrue(text.contains("lacks cuInit: it is no CUDA driver"), text);
  }

  @Test
  void thisMachinesOwnDriverOrNoneIsAnAnswer() throws Exception {
    String text = run("");
    assertTrue(text.contains("devices ") || text.contains("remedy "), text);
  }
}
