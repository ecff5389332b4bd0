package org.jofi.ranks;

import java.io.EOFException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;

/** Describes why a connection failed. */
final class Reason {
  private Reason() {}

  static String of(Exception failure) {
    return switch (failure) {
      case EOFException e -> "the connection ended";
      case SocketTimeoutException e -> "no answer";
      case UnknownHostException e -> "no host of that name is known";
      default -> {
        String words = failure.getMessage();
        yield words == null || words.isBlank() ? failure.toString() : words;
      }
    };
  }
}
