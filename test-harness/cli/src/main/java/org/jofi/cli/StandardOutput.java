package org.jofi.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A stream that remembers why it could not be written: who prints to it is not told, and a command
 * whose output is lost shall not end as one that is done.
 */
final class StandardOutput extends OutputStream {
  /** What the kernel says when a reader that had enough went away, as head does. */
  private static final String READER_GONE = "Broken pipe";

  private final OutputStream out;
  private volatile @Nullable IOException failure;

  /** Onto the process's own. */
  StandardOutput() {
    this(new FileOutputStream(FileDescriptor.out));
  }

  StandardOutput(OutputStream out) {
    this.out = out;
  }

  /** Why something is lost; empty if nothing is, or the reader wanted no more. */
  String loss() {
    IOException reason = failure;
    if (reason == null || READER_GONE.equals(reason.getMessage())) {
      return "";
    }
    return String.valueOf(reason.getMessage());
  }

  @Override
  public void write(int single) throws IOException {
    write(new byte[] {(byte) single}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }
}
