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

/**
 * The connections that a tcp endpoint accepted and that said nothing since, as when a rail swallows
 * what a peer sends, or when whoever connected is no peer.
 *
 * <p>The provider forgets them when the endpoint closes: it frees what listened, and what is to
 * handle their first byte, or their end, reads that memory. So the process crashes at some later
 * poll of the domain. (xnet_pep_close in the sources of 1.17 to 2.6: "We need to abort any
 * outstanding active connection requests".) If they end while the endpoint is open, the next poll
 * lets go of them.
 */
final class UnheardConnections {
  /**
   * ofi_rxm looks at connections every 10 ms (rxm_cm_progress_interval). A socket may stay that
   * long though the provider is done with it, if errno is not as it takes it to be.
   */
  private static final long BOUND_NS = 50_000_000;

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_INFO = 11;
  private static final int TCP_LISTEN = 10;

  /** Of struct tcp_info, which only grows. */
  private static final long RECEIVED = 128;

  private static final long INFO_BYTES = 256;
  private static final long NAME_BYTES = 128;

  private UnheardConnections() {}

  /**
   * Ends them, and what listens, so that none follows, and has the provider let go of them.
   *
   * @param address where the endpoint listens, as {@link SocketAddresses#text} has it
   * @param poll lets the provider work
   */
  static void end(String address, Runnable poll) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(NAME_BYTES);
      MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
      for (int socket : descriptors()) {
        if (isAt(address, socket, name)
            && isTcp(socket, info)
            && info.get(ValueLayout.JAVA_BYTE, 0) == TCP_LISTEN) {
          LibC.shutdown(socket);
        }
      }
      List<Integer> ended = new ArrayList<>();
      for (int socket : descriptors()) {
        if (isAt(address, socket, name)
            && isTcp(socket, info)
            && info.get(ValueLayout.JAVA_BYTE, 0) != TCP_LISTEN
            && info.get(ValueLayout.JAVA_LONG, RECEIVED) == 0) {
          LibC.shutdown(socket);
          ended.add(socket);
        }
      }
      long start = System.nanoTime();
      while (!ended.isEmpty() && System.nanoTime() - start < BOUND_NS) {
        poll.run();
        ended.removeIf(socket -> !isAt(address, socket, name));
      }
    }
  }

  private static boolean isAt(String address, int socket, MemorySegment name) {
    return LibC.getsockname(socket, name) == 0
        && SocketAddresses.text(name.toArray(ValueLayout.JAVA_BYTE)).equals(address);
  }

  private static boolean isTcp(int socket, MemorySegment info) {
    return LibC.getsockopt(socket, IPPROTO_TCP, TCP_INFO, info) == 0;
  }

  private static List<Integer> descriptors() {
    List<Integer> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
      all.forEach(path -> found.add(Integer.parseInt(String.valueOf(path.getFileName()))));
    } catch (IOException e) {
      // Without procfs nothing is known of them, and they are left as the provider leaves them.
      found.clear();
    }
    return found;
  }
}
