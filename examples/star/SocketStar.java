package star;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.jofi.ranks.Ranks;

/** Over plain sockets: less than any protocol on top of them costs. */
final class SocketStar implements Star {
  private static final String KEY = "star.sockets";
  private static final int BUFFER = 64 << 10;

  private final Coordinator coordinator; // null but for rank 0
  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;
  private byte[] message = new byte[0];

  SocketStar(Ranks ranks, String host) throws IOException {
    if (ranks.rank() == 0) {
      coordinator = new Coordinator(ranks.size(), host);
      ranks.store().set(KEY, coordinator.address());
    } else {
      coordinator = null;
    }
    ByteBuffer address = ByteBuffer.wrap(ranks.store().get(KEY, PATIENCE));
    socket = new Socket(host, address.getInt());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER));
    out = socket.getOutputStream();
    out.write(ByteBuffer.allocate(Long.BYTES + Integer.BYTES).putLong(address.getLong()).putInt(ranks.rank()).array());
  }

  @Override
  public void sum(MemorySegment array) throws IOException {
    int length = Math.toIntExact(array.byteSize());
    if (message.length != Integer.BYTES + length) {
      message = new byte[Integer.BYTES + length];
      ByteBuffer.wrap(message).putInt(length);
    }
    MemorySegment.copy(array, ValueLayout.JAVA_BYTE, 0, message, Integer.BYTES, length);
    out.write(message);
    try {
      in.readFully(message, Integer.BYTES, length);
    } catch (EOFException e) {
      throw new IOException("the coordinator has gone", e);
    }
    MemorySegment.copy(message, Integer.BYTES, array, ValueLayout.JAVA_BYTE, 0, length);
  }

  @Override
  public void close() throws IOException {
    socket.close();
    if (coordinator != null) {
      coordinator.close();
    }
  }

  /** A thread for each rank, which reads its array, waits for the others, and writes the sum. */
  private static final class Coordinator implements AutoCloseable {
    private final ServerSocket server;
    private final long nonce = new SecureRandom().nextLong();
    private final byte[][] arrays;
    private final Socket[] members;
    private final CyclicBarrier all;
    private final List<Thread> threads = new ArrayList<>();
    private byte[] sum = new byte[0];

    Coordinator(int size, String host) throws IOException {
      server = new ServerSocket(0, size, InetAddress.getByName(host));
      arrays = new byte[size][0];
      members = new Socket[size];
      all = new CyclicBarrier(size, () -> sum = Star.added(arrays));
      start(this::accept, "coordinator");
    }

    byte[] address() {
      return ByteBuffer.allocate(Integer.BYTES + Long.BYTES).putInt(server.getLocalPort()).putLong(nonce).array();
    }

    private synchronized void start(Runnable task, String name) {
      threads.add(Thread.ofPlatform().daemon().name(name).start(task));
    }

    private void accept() {
      for (int joined = 0; joined < members.length; ) {
        try {
          Socket socket = server.accept();
          socket.setTcpNoDelay(true);
          socket.setSoTimeout((int) PATIENCE.toMillis());
          DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER));
          boolean known = in.readLong() == nonce;
          int rank = in.readInt();
          if (!known || rank < 0 || rank >= members.length || members[rank] != null) {
            socket.close(); // a stranger
            continue;
          }
          members[rank] = socket;
          joined++;
          start(() -> serve(rank, socket, in), "coordinator-of-" + rank);
        } catch (IOException e) {
          if (server.isClosed()) {
            return;
          }
        }
      }
    }

    private void serve(int rank, Socket socket, DataInputStream in) {
      try (socket) {
        OutputStream out = socket.getOutputStream();
        while (true) {
          int length = in.readInt();
          if (length < 0 || length > LONGEST || length % Float.BYTES != 0) {
            throw new IOException("rank %d announces %d bytes".formatted(rank, length));
          }
          if (arrays[rank].length != length) {
            arrays[rank] = new byte[length];
          }
          in.readFully(arrays[rank]);
          all.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
          out.write(sum);
        }
      } catch (IOException | BrokenBarrierException | java.util.concurrent.TimeoutException e) {
        all.reset(); // the others see that their sockets end
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() throws IOException {
      server.close();
      for (Socket member : members) {
        if (member != null) {
          member.close();
        }
      }
    }
  }
}
