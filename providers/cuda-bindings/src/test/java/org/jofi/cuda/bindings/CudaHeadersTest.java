package org.jofi.cuda.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jofi.headers.BindingsComparison;
import org.jofi.headers.CHeaders;
import org.jofi.headers.GeneratedConstants;
import org.jofi.headers.HeaderAge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The struct and the constants of the bindings against the cuda.h of this machine: below {@code
 * CUDA_HOME}, or else where the toolkit installs itself. Few machines have one: {@link
 * CudaConstantsTest} compares the constants everywhere.
 */
class CudaHeadersTest {
  private static final String STRUCT = "struct CUuuid_st";

  @Test
  void bindingsAgreeWithTheHeader(@TempDir Path work) throws Exception {
    Path toolkit =
        Path.of(Optional.ofNullable(System.getenv("CUDA_HOME")).orElse("/usr/local/cuda"));
    CHeaders headers = new CHeaders(toolkit.resolve("include"), List.of("cuda.h"), work);
    Optional<String> obstacle = headers.obstacle();
    assumeTrue(
        obstacle.isEmpty(),
        () ->
            "bindings not compared with cuda.h: "
                + obstacle.orElseThrow()
                + ". Install the headers of a CUDA toolkit, and gcc, and name the toolkit's folder in"
                + " CUDA_HOME if it is not /usr/local/cuda");

    Map<String, Number> constants = GeneratedConstants.of(CudaDriver.class);
    List<String> expressions = new ArrayList<>(constants.keySet());
    expressions.addAll(BindingsComparison.expressions(STRUCT, CUuuid_st.layout()));
    Map<String, Long> header = headers.evaluate(expressions);

    HeaderAge age = HeaderAge.of(header.get("CUDA_VERSION"), CudaDriver.CUDA_VERSION());
    BindingsComparison comparison = new BindingsComparison(age, header);
    comparison.struct(STRUCT, CUuuid_st.layout());
    constants.forEach(
        (name, value) -> {
          if (!name.equals("CUDA_VERSION")) {
            comparison.constant(
                name, value.longValue(), value instanceof Integer ? Integer.SIZE : Long.SIZE);
          }
        });

    System.out.printf(
        "cuda.h %d, which is %s the bindings': %d compared; not in it: %s%n",
        header.get("CUDA_VERSION"), age.phrase(), comparison.compared(), comparison.absent());
    assertEquals(List.of(), comparison.disagreements());
    assertTrue(comparison.compared() > 150, "compared only " + comparison.compared());
  }
}
