package inference;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A rank's part of a decoder with made-up weights. It has some of the attention heads, with their
 * columns of the projections to queries, keys and values and their rows of the one back; and some of the
 * columns of the first matrix of each MLP, with the rows of the second. What comes out of the
 * rows are parts of sums over all ranks: so there are two all-reduces in a layer. The rest each
 * rank does for itself. For one sequence, one token after another, whose keys and values are kept.
 */
final class Transformer {
  /**
   * How large it is.
   *
   * @param width of what passes from layer to layer
   * @param heads of attention; divides the width
   * @param positions the most tokens of a sequence
   */
  record Size(int layers, int width, int heads, int positions) {
    static final int VOCABULARY = 256; // tokens are bytes

    int headWidth() {
      return width / heads;
    }

    /** Of the MLP's inner layer. */
    int inner() {
      return 4 * width;
    }
  }

  /** A layer's weights on this rank, a row for each input. */
  private record Layer(
      float[] queries, float[] keys, float[] values, float[] back, float[] up, float[] down, float[] keysSeen, float[] valuesSeen) {}

  private final Size size;
  private final int heads; // of this rank
  private final int part; // of this rank, of the width
  private final int inner; // of this rank
  private final Layer[] layers;
  private final float[] embedding;
  private final float[] out;

  private final float[] x;
  private final float[] normal;
  private final float[] query;
  private final float[] attended;
  private final float[] scores;
  private final float[] hidden;
  private final float[] partial;

  private MemorySegment shared = MemorySegment.NULL;
  private @Nullable Runnable allReduce;
  private int position;
  private long reducedNanos;

  /**
   * Makes the weights.
   *
   * @param rank which part of them
   * @param ranks how many parts there are; divides the number of heads
   */
  Transformer(Size size, int rank, int ranks) {
    this.size = size;
    int width = size.width();
    heads = size.heads() / ranks;
    part = width / ranks;
    inner = size.inner() / ranks;
    layers = new Layer[size.layers()];
    for (int l = 0; l < layers.length; l++) {
      int matrix = 8 * l;
      layers[l] =
          new Layer(
              columns(matrix, width, width, rank * part, part),
              columns(matrix + 1, width, width, rank * part, part),
              columns(matrix + 2, width, width, rank * part, part),
              rows(matrix + 3, width, width, rank * part, part),
              columns(matrix + 4, width, size.inner(), rank * inner, inner),
              rows(matrix + 5, size.inner(), width, rank * inner, inner),
              new float[size.positions() * part],
              new float[size.positions() * part]);
    }
    embedding = columns(-1, Size.VOCABULARY, width, 0, width);
    out = columns(-2, width, Size.VOCABULARY, 0, Size.VOCABULARY);
    x = new float[width];
    normal = new float[width];
    query = new float[part];
    attended = new float[part];
    scores = new float[size.positions()];
    hidden = new float[inner];
    partial = new float[width];
  }

  /**
   * Begins a sequence.
   *
   * @param memory native memory for the width, which is what is reduced
   * @param reduction sums it over all ranks, in place; null if this is the only one
   */
  void begin(MemorySegment memory, @Nullable Runnable reduction) {
    shared = memory;
    allReduce = reduction;
    position = 0;
    reducedNanos = 0;
  }

  /** {@return how long this sequence has spent in reductions} */
  long reducedNanos() {
    return reducedNanos;
  }

  /** {@return what it says of the token after this one: a number for each that there is} */
  float[] logits(int token) {
    int width = size.width();
    for (int i = 0; i < width; i++) {
      double angle = position / Math.pow(10_000, (i & ~1) / (double) width);
      x[i] = embedding[token * width + i] + (float) ((i & 1) == 0 ? Math.sin(angle) : Math.cos(angle));
    }
    for (Layer layer : layers) {
      normalise(x, normal);
      multiply(normal, layer.queries, query);
      attend(layer);
      multiply(attended, layer.back, partial);
      addReduced();

      normalise(x, normal);
      multiply(normal, layer.up, hidden);
      for (int i = 0; i < inner; i++) {
        hidden[i] = Math.max(0, hidden[i]);
      }
      multiply(hidden, layer.down, partial);
      addReduced();
    }
    position++;
    float[] logits = new float[Size.VOCABULARY];
    normalise(x, normal);
    multiply(normal, out, logits);
    return logits;
  }

  private void attend(Layer layer) {
    float[] row = new float[part];
    multiply(normal, layer.keys, row);
    System.arraycopy(row, 0, layer.keysSeen, position * part, part);
    multiply(normal, layer.values, row);
    System.arraycopy(row, 0, layer.valuesSeen, position * part, part);
    int wide = size.headWidth();
    Arrays.fill(attended, 0);
    for (int head = 0; head < heads; head++) {
      int first = head * wide;
      float most = Float.NEGATIVE_INFINITY;
      for (int at = 0; at <= position; at++) {
        float score = 0;
        for (int i = first; i < first + wide; i++) {
          score += query[i] * layer.keysSeen[at * part + i];
        }
        scores[at] = score / (float) Math.sqrt(wide);
        most = Math.max(most, scores[at]);
      }
      float sum = 0;
      for (int at = 0; at <= position; at++) {
        scores[at] = (float) Math.exp(scores[at] - most);
        sum += scores[at];
      }
      for (int at = 0; at <= position; at++) {
        float weight = scores[at] / sum;
        for (int i = first; i < first + wide; i++) {
          attended[i] += weight * layer.valuesSeen[at * part + i];
        }
      }
    }
  }

  /** What this rank has of a sum goes to the others; the whole is added to what passes on. */
  private void addReduced() {
    if (allReduce != null) {
      MemorySegment.copy(partial, 0, shared, ValueLayout.JAVA_FLOAT, 0, partial.length);
      long began = System.nanoTime();
      allReduce.run();
      reducedNanos += System.nanoTime() - began;
      MemorySegment.copy(shared, ValueLayout.JAVA_FLOAT, 0, partial, 0, partial.length);
    }
    for (int i = 0; i < x.length; i++) {
      x[i] += partial[i];
    }
  }

  private static void normalise(float[] from, float[] to) {
    float squares = 0;
    for (float each : from) {
      squares += each * each;
    }
    float scale = (float) (1 / Math.sqrt(squares / from.length + 1e-6));
    for (int i = 0; i < from.length; i++) {
      to[i] = from[i] * scale;
    }
  }

  /** A row of the matrix for each element of the vector: so the inner loop is one that HotSpot vectorises. */
  private static void multiply(float[] vector, float[] matrix, float[] product) {
    int columns = product.length;
    Arrays.fill(product, 0);
    for (int row = 0; row < vector.length; row += 4) {
      addRows(vector[row], vector[row + 1], vector[row + 2], vector[row + 3], matrix, row * columns, product);
    }
  }

  private static void addRows(float a, float b, float c, float d, float[] matrix, int at, float[] product) {
    int columns = product.length;
    int second = at + columns;
    int third = second + columns;
    int fourth = third + columns;
    for (int j = 0; j < columns; j++) {
      product[j] += a * matrix[at + j] + b * matrix[second + j] + c * matrix[third + j] + d * matrix[fourth + j];
    }
  }

  /** Columns of a matrix. */
  private static float[] columns(int matrix, int rows, int columns, int first, int count) {
    float[] some = new float[rows * count];
    float scale = (float) Math.sqrt(3.0 / rows);
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < count; j++) {
        some[i * count + j] = scale * weight(matrix, (long) i * columns + first + j);
      }
    }
    return some;
  }

  /** Rows of a matrix. */
  private static float[] rows(int matrix, int rows, int columns, int first, int count) {
    float[] some = new float[count * columns];
    float scale = (float) Math.sqrt(3.0 / rows);
    for (int i = 0; i < some.length; i++) {
      some[i] = scale * weight(matrix, (long) first * columns + i);
    }
    return some;
  }

  /** A number from -1 to 1 that only its place tells: each rank makes the part that it needs. */
  private static float weight(int matrix, long at) {
    long bits = (at + ((long) matrix << 40)) * 0x9E3779B97F4A7C15L;
    bits = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
    bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
    return (bits >> 40) / (float) (1 << 23);
  }
}
