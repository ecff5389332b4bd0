package org.jofi.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.AddressText;
import org.jofi.fabric.LinkTraffic;

/**
 * What the kernel knows of this process's TCP sockets, of which libfabric tells nothing. For one
 * thread; close it soon.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/tcp.7.html">tcp(7)</a>, TCP_INFO
 */
final class TcpSockets implements AutoCloseable {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_INFO = 11;
  private static final int TCP_LISTEN = 10;

  /** Of struct tcp_info, which only grows. What a kernel does not have yet is 0. */
  private static final long REPEATED = 100;

  private static final long ACKNOWLEDGED = 120;
  private static final long RECEIVED = 128;
  private static final long PACKETS = 156;
  private static final long INFO_BYTES = 256;
  private static final long NAME_BYTES = 128;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment name = arena.allocate(NAME_BYTES);
  private final MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);

  /** All descriptors of this process; none if there is no procfs, so that nothing is known. */
  static List<Integer> descriptors() {
    List<Integer> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
      all.forEach(path -> found.add(Integer.parseInt(String.valueOf(path.getFileName()))));
    } catch (IOException e) {
      found.clear();
    }
    return found;
  }

  /** Its own address, as {@link AddressText#of} has it; empty if it is no socket. */
  String local(int descriptor) {
    return LibC.getsockname(descriptor, name) == 0 ? text() : "";
  }

  /** The address that it is connected to; empty if it is not. */
  String remote(int descriptor) {
    return LibC.getpeername(descriptor, name) == 0 ? text() : "";
  }

  private String text() {
    return AddressText.of(name.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Whether it is a TCP socket that listens. */
  boolean listens(int descriptor) {
    return isTcp(descriptor) && info.get(ValueLayout.JAVA_BYTE, 0) == TCP_LISTEN;
  }

  /** Whether it is a connection over which nothing was received yet. */
  boolean isUnheard(int descriptor) {
    return isTcp(descriptor)
        && info.get(ValueLayout.JAVA_BYTE, 0) != TCP_LISTEN
        && info.get(ValueLayout.JAVA_LONG, RECEIVED) == 0;
  }

  private boolean isTcp(int descriptor) {
    return LibC.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info) == 0;
  }

  /**
   * What was moved between an endpoint and a peer, over the connections that are open now: those
   * that the peer accepted, and those that it made, whose port is of no use.
   *
   * @param own where the endpoint listens
   * @param peer where the peer's does
   */
  LinkTraffic traffic(String own, String peer) {
    LinkTraffic sum = LinkTraffic.NONE;
    for (int socket : descriptors()) {
      String remote = remote(socket);
      boolean between =
          remote.equals(peer) || (local(socket).equals(own) && host(remote).equals(host(peer)));
      if (between && isTcp(socket)) {
        sum =
            sum.plus(
                new LinkTraffic(
                    info.get(ValueLayout.JAVA_LONG, ACKNOWLEDGED),
                    info.get(ValueLayout.JAVA_LONG, RECEIVED),
                    unsigned(PACKETS),
                    unsigned(REPEATED)));
      }
    }
    return sum;
  }

  private long unsigned(long offset) {
    return Integer.toUnsignedLong(info.get(ValueLayout.JAVA_INT, offset));
  }

  private static String host(String address) {
    int colon = address.lastIndexOf(':');
    return colon < 0 ? address : address.substring(0, colon);
  }

  @Override
  public void close() {
    arena.close();
  }
}
