package org.jofi.counters.written;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * A file of counters as bytes, as somebody else writes it. It is read by calls and not mapped: a
 * file that becomes shorter meanwhile has fewer bytes then, where a mapped one would have this
 * process meet a bus error. What is not there reads as 0.
 */
public final class CounterBytes implements AutoCloseable {
  private final FileChannel file;

  private CounterBytes(FileChannel file) {
    this.file = file;
  }

  /**
   * Opens one, to read.
   *
   * @param path where it is
   * @return what has to be closed
   * @throws IOException if it is no plain file, or may not be read
   */
  public static CounterBytes open(Path path) throws IOException {
    // A pipe would wait for its writer.
    if (!Files.isRegularFile(path, NOFOLLOW_LINKS)) {
      throw new IOException(
          Files.exists(path, NOFOLLOW_LINKS)
              ? path + " is no plain file"
              : path + " does not exist");
    }
    return new CounterBytes(
        FileChannel.open(path, Set.of(StandardOpenOption.READ, NOFOLLOW_LINKS)));
  }

  /**
   * Reads a part of it.
   *
   * @param at where it begins
   * @param bytes how much, at most
   * @return from position 0 to as much as was there, little-endian
   * @throws IOException if it cannot be read
   */
  public ByteBuffer read(long at, int bytes) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int got = 0;
    while (into.hasRemaining() && got >= 0) {
      got = file.read(into, at + into.position());
    }
    return into.flip();
  }

  /**
   * Reads a number.
   *
   * @param at a multiple of 8
   * @return what is there now; 0 beyond the end
   * @throws IOException if it cannot be read
   */
  public long longAt(long at) throws IOException {
    ByteBuffer bytes = read(at, Long.BYTES);
    return bytes.remaining() < Long.BYTES ? 0 : bytes.getLong();
  }

  /**
   * Reads a number.
   *
   * @param at a multiple of 4
   * @return what is there now; 0 beyond the end
   * @throws IOException if it cannot be read
   */
  public int intAt(long at) throws IOException {
    ByteBuffer bytes = read(at, Integer.BYTES);
    return bytes.remaining() < Integer.BYTES ? 0 : bytes.getInt();
  }

  /**
   * Closes the file.
   *
   * @throws IOException if that fails
   */
  @Override
  public void close() throws IOException {
    file.close();
  }
}
