package org.jofi.nccl.layout;

import org.jspecify.annotations.Nullable;

/** The folder could not be laid out. The message says what is missing, and what helps. */
public final class PluginFolderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean lacking;

  private PluginFolderException(String message, boolean lacking, @Nullable Throwable cause) {
    super(message, cause);
    this.lacking = lacking;
  }

  /** This machine lacks something. */
  static PluginFolderException lacking(String message) {
    return new PluginFolderException(message, true, null);
  }

  /** It went wrong. */
  static PluginFolderException failed(String message, @Nullable Throwable cause) {
    return new PluginFolderException(message, false, cause);
  }

  /** Whether this machine lacks something that could be installed. */
  public boolean isLacking() {
    return lacking;
  }
}
