package org.jofi.cuda.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.FieldModel;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jofi.headers.BindingsComparison;
import org.jofi.headers.GeneratedConstants;
import org.jofi.headers.HeaderAge;
import org.junit.jupiter.api.Test;

/**
 * The constants of the bindings against those that another generator, JavaCPP, took from NVIDIA's
 * cuda.h. Its class is read and never loaded, since loading it would load CUDA.
 */
class CudaConstantsTest {
  private static final String OTHER = "/org/bytedeco/cuda/global/cudart.class";

  @Test
  void bindingsAgreeWithThoseOfAnotherGenerator() throws IOException {
    Map<String, Long> other = constants();
    HeaderAge age = HeaderAge.of(other.get("CUDA_VERSION"), CudaDriver.CUDA_VERSION());
    BindingsComparison comparison = new BindingsComparison(age, other);
    GeneratedConstants.of(CudaDriver.class)
        .forEach(
            (name, value) -> {
              if (!name.equals("CUDA_VERSION")) {
                comparison.constant(
                    name, value.longValue(), value instanceof Integer ? Integer.SIZE : Long.SIZE);
              }
            });

    assertEquals(List.of(), comparison.disagreements());
    // Newer than the other generator's cuda.h.
    assertEquals(List.of("CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"), comparison.absent());
    assertTrue(comparison.compared() > 150, "compared only " + comparison.compared());
  }

  private static Map<String, Long> constants() throws IOException {
    Map<String, Long> constants = new TreeMap<>();
    try (InputStream bytes =
        Objects.requireNonNull(CudaConstantsTest.class.getResourceAsStream(OTHER), OTHER)) {
      for (FieldModel field : ClassFile.of().parse(bytes.readAllBytes()).fields()) {
        field
            .findAttribute(Attributes.constantValue())
            .filter(value -> value.constant().constantValue() instanceof Number)
            .ifPresent(
                value ->
                    constants.put(
                        field.fieldName().stringValue(),
                        ((Number) value.constant().constantValue()).longValue()));
      }
    }
    return constants;
  }
}
