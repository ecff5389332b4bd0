package org.jofi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel as NVIDIA's own assembler reads it: it needs the CUDA toolkit, and no GPU. */
class KernelTextTest {

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_80", "sm_90"})
  void theAssemblerTakesIt(String gpu, @TempDir Path folder) throws Exception {
    Path toolkit =
        Path.of(Optional.ofNullable(System.getenv("CUDA_HOME")).orElse("/usr/local/cuda"));
    Path assembler = toolkit.resolve("bin/ptxas");
    assumeTrue(
        Files.isExecutable(assembler), () -> "the kernel was not assembled: no " + assembler);
    Path output = folder.resolve("output.txt");
    Process process =
        new ProcessBuilder(
                assembler.toString(),
                "-arch=" + gpu,
                "-o",
                folder.resolve("kernel.cubin").toString(),
                Path.of("src/main/resources/org/jofi/cuda", FloatAdder.RESOURCE).toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "ptxas hangs");
    assertEquals(0, process.exitValue(), Files.readString(output));
  }
}
