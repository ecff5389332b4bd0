package org.jofi.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Standard output, as a stream that remembers why it could not be written. Printing to it throws no
 * exception, but a command whose output is lost must not end with success.
 */
final class StandardOutput extends OutputStream {
  /** The kernel's message when the reader of a pipe has closed it, as head does. */
  private static final String READER_GONE = "Broken pipe";

  private final OutputStream out;
  private volatile @Nullable IOException failure;

  /** Writes to the process's standard output. */
  StandardOutput() {
    this(new FileOutputStream(FileDescriptor.out));
  }

  StandardOutput(OutputStream out) {
    this.out = out;
  }

  /** Why output was lost; empty if none was, or the reader closed the pipe. */
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
