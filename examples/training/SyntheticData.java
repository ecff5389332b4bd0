package training;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.util.SplittableRandom;

/**
 * Samples that are made: normally distributed features, and the class that a linear map gives them. A
 * sample depends on its number alone, so that each rank makes its own part of a batch.
 */
final class SyntheticData {
  private static final long SEED = 45;

  private final int features;
  private final int classes;
  private final float[] teacher;

  /** A part of a batch. */
  record Part(NDArray features, NDArray labels) {}

  SyntheticData(int features, int classes) {
    this.features = features;
    this.classes = classes;
    teacher = new float[features * classes];
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < teacher.length; i++) {
      teacher[i] = (float) random.nextGaussian();
    }
  }

  /** {@return samples, from the first one on} */
  Part part(NDManager manager, int first, int count) {
    float[] x = new float[count * features];
    float[] labels = new float[count];
    for (int sample = 0; sample < count; sample++) {
      SplittableRandom random = new SplittableRandom(SEED + 1 + first + sample);
      double[] scores = new double[classes];
      for (int i = 0; i < features; i++) {
        float value = (float) random.nextGaussian();
        x[sample * features + i] = value;
        for (int j = 0; j < classes; j++) {
          scores[j] += value * teacher[i * classes + j];
        }
      }
      for (int j = 1; j < classes; j++) {
        if (scores[j] > scores[(int) labels[sample]]) {
          labels[sample] = j;
        }
      }
    }
    return new Part(manager.create(x, new Shape(count, features)), manager.create(labels, new Shape(count)));
  }
}
