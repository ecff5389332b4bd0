package org.jofi.ranks;

import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How a rank introduces itself to the server, and the server to it. For one thread. */
final class Introduction {
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Placement placement;
  private final JoinOptions options;
  private final String name;

  private Introduction(Placement placement, JoinOptions options) {
    this.placement = placement;
    this.options = options;
    this.name = options.names().name(placement.rank(), placement.rank());
  }

  /**
   * Finds the server and introduces the rank.
   *
   * @param deadline when to give up, in {@link System#nanoTime()}
   * @return the connection, on which the server has let it in
   * @throws IOException if there is no server
   * @throws RanksException if the server refuses this rank, says nothing in time, or is none of
   *     this run
   */
  static FrameConnection of(
      Placement placement, JoinOptions options, ServerSearch search, long deadline)
      throws IOException {
    Introduction introduction = new Introduction(placement, options);
    while (true) {
      Socket socket = search.find(deadline);
      try {
        FrameConnection connection = new FrameConnection(socket);
        connection.readWithin(millis(deadline));
        byte[] challenge;
        try {
          challenge = introduction.challenge(connection.readUnproven());
        } catch (EOFException | SocketException e) {
          // That of the run before, which is about to close, or it has too many strangers now.
          if (System.nanoTime() + RETRY_NANOS - deadline >= 0) {
            throw e;
          }
          connection.close();
          LockSupport.parkNanos(RETRY_NANOS);
          continue;
        }
        introduction.introduce(connection, challenge, deadline);
        return connection;
      } catch (IOException e) {
        FrameConnection.end(socket);
        throw introduction.silent(e);
      } catch (RuntimeException e) {
        FrameConnection.end(socket);
        throw e;
      }
    }
  }

  private static long millis(long deadline) {
    return TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
  }

  private byte[] challenge(Frame frame) {
    if (frame.type() != Frame.Type.CHALLENGE || frame.payload().length != SharedSecret.BYTES) {
      throw new RanksException(
          "%s met something at %s that does not speak as a server of ranks"
              .formatted(name, placement.address()));
    }
    return frame.payload();
  }

  private void introduce(FrameConnection connection, byte[] challenge, long deadline)
      throws IOException {
    SharedSecret secret = new SharedSecret(options.secret());
    int rank = placement.rank();
    Hello hello = new Hello(placement.size(), options.parameters());
    byte[] introduction = secret.introduction(challenge, rank, hello);
    connection.write(new Frame(Frame.Type.HELLO, rank, introduction));
    connection.readWithin(millis(deadline));
    Frame answer = connection.readUnproven();
    switch (answer.type()) {
      case WELCOME -> {
        if (!secret.isWelcome(challenge, rank, introduction, answer.payload())) {
          throw new RanksException(
              "%s met a server at %s that does not know the secret, so that it is none of this run"
                  .formatted(name, placement.address()));
        }
      }
      case FAILED -> {
        String words =
            "%s failed: %s".formatted(options.names().name(answer.rank(), rank), answer.words());
        throw answer.rank() == rank
            ? new RanksException(words)
            : new RankLostException(answer.rank(), words);
      }
      case ABSENT -> throw answer.absence(options.names().name(answer.rank(), rank));
      default -> throw new IOException("unexpected " + answer.type());
    }
    connection.readWithoutBound();
  }

  private RanksException silent(IOException reason) {
    String words =
        "%s cannot talk to %s: %s".formatted(name, placement.address(), Reason.of(reason));
    return reason instanceof SocketTimeoutException
        ? new RankTimeoutException(List.of(), words, reason)
        : new RanksException(words, reason);
  }
}
