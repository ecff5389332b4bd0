package org.jofi.nccl.layout;

import org.jspecify.annotations.Nullable;

/** The folder could not be made. The message says what is missing, and what to do. */
public final class PluginFolderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean lacking;

  private PluginFolderException(String message, boolean lacking, @Nullable Throwable cause) {
    super(message, cause);
    this.lacking = lacking;
  }

  /** An exception for something that this machine lacks. */
  static PluginFolderException lacking(String message) {
    return new PluginFolderException(message, true, null);
  }

  /** An exception for another failure. */
  static PluginFolderException failed(String message, @Nullable Throwable cause) {
    return new PluginFolderException(message, false, cause);
  }

  /** Whether this machine lacks something that could be installed. */
  public boolean isLacking() {
    return lacking;
  }
}
