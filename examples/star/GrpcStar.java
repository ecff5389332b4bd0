package star;

import io.grpc.CallOptions;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jofi.ranks.Ranks;

/**
 * Over gRPC: each rank has a stream to the coordinator, as in Jlama. Messages are the bytes of arrays,
 * without protobuf around them, and calls are served by the threads that receive them: both spare gRPC work.
 */
public final class GrpcStar implements Star {
  private static final String KEY = "star.grpc";
  private static final String SERVICE = "jofi.example.Star";
  private static final MethodDescriptor.Marshaller<byte[]> BYTES = new Bytes();
  private static final MethodDescriptor<byte[], byte[]> SUM =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Sum"))
          .setRequestMarshaller(BYTES)
          .setResponseMarshaller(BYTES)
          .build();

  private final Server server; // null but for rank 0
  private final ManagedChannel channel;
  private final StreamObserver<byte[]> requests;
  private final int rank;
  private final BlockingQueue<Object> answers = new ArrayBlockingQueue<>(2);

  public GrpcStar(Ranks ranks, String host) throws IOException {
    rank = ranks.rank();
    if (rank == 0) {
      Coordinator coordinator = new Coordinator(ranks.size());
      server =
          NettyServerBuilder.forAddress(new InetSocketAddress(host, 0))
              .directExecutor()
              .maxInboundMessageSize(LONGEST)
              .addService(
                  ServerServiceDefinition.builder(SERVICE)
                      .addMethod(SUM, ServerCalls.asyncBidiStreamingCall(coordinator::join))
                      .build())
              .build()
              .start();
      ranks.store().set(KEY, ByteBuffer.allocate(Integer.BYTES).putInt(server.getPort()).array());
    } else {
      server = null;
    }
    int port = ByteBuffer.wrap(ranks.store().get(KEY, PATIENCE)).getInt();
    channel =
        NettyChannelBuilder.forAddress(host, port)
            .usePlaintext()
            .directExecutor()
            .maxInboundMessageSize(LONGEST)
            .build();
    requests =
        ClientCalls.asyncBidiStreamingCall(
            channel.newCall(SUM, CallOptions.DEFAULT),
            new StreamObserver<>() {
              @Override
              public void onNext(byte[] sum) {
                answers.add(sum);
              }

              @Override
              public void onError(Throwable why) {
                answers.offer(why);
              }

              @Override
              public void onCompleted() {
                answers.offer(new IOException("the coordinator has ended the stream"));
              }
            });
  }

  @Override
  public void sum(MemorySegment array) throws Exception {
    int length = Math.toIntExact(array.byteSize());
    byte[] message = new byte[Integer.BYTES + length];
    ByteBuffer.wrap(message).putInt(rank);
    MemorySegment.copy(array, ValueLayout.JAVA_BYTE, 0, message, Integer.BYTES, length);
    requests.onNext(message);
    Object answer = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    if (!(answer instanceof byte[] sum)) {
      throw new IOException("no sum came", answer instanceof Throwable why ? why : null);
    }
    MemorySegment.copy(sum, 0, array, ValueLayout.JAVA_BYTE, 0, length);
  }

  @Override
  public void close() throws InterruptedException {
    requests.onCompleted();
    channel.shutdown();
    channel.awaitTermination(5, TimeUnit.SECONDS);
    if (server != null) {
      server.shutdown();
      if (!server.awaitTermination(5, TimeUnit.SECONDS)) {
        server.shutdownNow();
      }
    }
  }

  /** Holds the arrays until the last one has come. */
  private static final class Coordinator {
    private final byte[][] arrays;
    private final Stream[] streams;
    private int arrived;

    Coordinator(int size) {
      arrays = new byte[size][];
      streams = new Stream[size];
    }

    StreamObserver<byte[]> join(StreamObserver<byte[]> out) {
      return new Stream(out);
    }

    private synchronized void take(Stream from, byte[] message) {
      int rank = message.length < Integer.BYTES ? -1 : ByteBuffer.wrap(message).getInt();
      if (rank < 0 || rank >= arrays.length || arrays[rank] != null) {
        from.out.onError(Status.INVALID_ARGUMENT.withDescription("a message of rank " + rank).asException());
        return;
      }
      byte[] array = new byte[message.length - Integer.BYTES];
      System.arraycopy(message, Integer.BYTES, array, 0, array.length);
      arrays[rank] = array;
      streams[rank] = from;
      if (++arrived < arrays.length) {
        return;
      }
      byte[] sum = Star.added(arrays);
      arrived = 0;
      for (int i = 0; i < arrays.length; i++) {
        arrays[i] = null;
        streams[i].out.onNext(sum);
      }
    }

    /** A rank failed: so do the others. */
    private synchronized void end(Throwable why) {
      for (Stream stream : streams) {
        if (stream != null) {
          try {
            stream.out.onError(Status.ABORTED.withCause(why).withDescription("a rank is lost").asException());
          } catch (IllegalStateException ended) {
            // It has ended already.
          }
        }
      }
    }

    private final class Stream implements StreamObserver<byte[]> {
      private final StreamObserver<byte[]> out;

      Stream(StreamObserver<byte[]> out) {
        this.out = out;
      }

      @Override
      public void onNext(byte[] message) {
        take(this, message);
      }

      @Override
      public void onError(Throwable why) {
        end(why);
      }

      @Override
      public void onCompleted() {
        synchronized (Coordinator.this) {
          out.onCompleted();
        }
      }
    }
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new Message(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        byte[] bytes = new byte[stream.available()]; // gRPC knows the length of what it received
        int read = stream.readNBytes(bytes, 0, bytes.length);
        if (read != bytes.length || stream.read() >= 0) {
          throw new IOException("a message of another length than it said");
        }
        return bytes;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class Message extends ByteArrayInputStream implements KnownLength, Drainable {
    Message(byte[] bytes) {
      super(bytes);
    }

    @Override
    public int drainTo(OutputStream to) throws IOException {
      return (int) transferTo(to);
    }
  }
}
