package star;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import org.jofi.ranks.Ranks;

/**
 * What collectives are compared with: every rank sends its array to a coordinator, which adds them up
 * in the order of ranks and sends the sum back to each, as Jlama does. The coordinator is in rank 0's process, and rank
 * 0 talks to it as the others do.
 */
public interface Star extends AutoCloseable {
  Duration PATIENCE = Duration.ofMinutes(1);

  /** Of an array, in bytes. */
  int LONGEST = 1 << 30;

  ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Adds up the arrays of all ranks, and waits for the sum. For one thread.
   *
   * @param array of this rank, of 4-byte floats; becomes the sum
   */
  void sum(MemorySegment array) throws Exception;

  /**
   * Connects this rank; all ranks call it.
   *
   * @param kind {@code sockets} or {@code grpc}
   * @param host where rank 0 can be reached
   * @throws IllegalArgumentException if there is no such kind, or gRPC is not on the class path
   */
  static Star open(String kind, Ranks ranks, String host) throws Exception {
    switch (kind) {
      case "sockets":
        return new SocketStar(ranks, host);
      case "grpc":
        try {
          Class.forName("io.grpc.Server");
        } catch (ClassNotFoundException e) {
          throw new IllegalArgumentException("gRPC is not on the class path; examples/training/run gets it", e);
        }
        return (Star) Class.forName("star.GrpcStar").getConstructor(Ranks.class, String.class).newInstance(ranks, host);
      default:
        throw new IllegalArgumentException("there is a star of sockets and one of grpc, none of '%s'".formatted(kind));
    }
  }

  /** {@return the sum of arrays of floats, added in their order} */
  static byte[] added(byte[][] arrays) {
    float[] sum = new float[arrays[0].length / Float.BYTES];
    float[] one = new float[sum.length];
    for (int rank = 0; rank < arrays.length; rank++) {
      if (arrays[rank].length != arrays[0].length) {
        throw new IllegalStateException(
            "rank %d sent %d bytes, rank 0 %d".formatted(rank, arrays[rank].length, arrays[0].length));
      }
      MemorySegment.copy(MemorySegment.ofArray(arrays[rank]), FLOAT, 0, rank == 0 ? sum : one, 0, sum.length);
      if (rank > 0) {
        for (int i = 0; i < sum.length; i++) {
          sum[i] += one[i];
        }
      }
    }
    byte[] bytes = new byte[arrays[0].length];
    MemorySegment.copy(sum, 0, MemorySegment.ofArray(bytes), FLOAT, 0, sum.length);
    return bytes;
  }

  @Override
  void close() throws Exception;
}
