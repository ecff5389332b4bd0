package org.jofi.ranks;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

/** Opens what ranks read to the package of the tests. */
public final class FuzzedRanks {
  private FuzzedRanks() {}

  /** Frames until they end, or one is none. */
  public static void frames(byte[] bytes) {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    try {
      while (true) {
        Frame frame = Frame.read(in);
        switch (frame.type()) {
          case HELLO -> introduction(frame.payload());
          case FAILED -> frame.words();
          case ABSENT -> absent(frame);
          case STORE -> storeRequest(frame.payload());
          case STORED -> storeAnswer(frame.payload());
          default -> {}
        }
      }
    } catch (IOException documented) {
      // So it ends.
    }
  }

  private static void introduction(byte[] bytes) {
    byte[] challenge = new byte[SharedSecret.BYTES];
    if (new SharedSecret("s").proves(challenge, 0, bytes)) {
      throw new AssertionError("a proof without the secret");
    }
    try {
      SharedSecret.hello(bytes);
    } catch (IllegalArgumentException documented) {
      // So it is refused.
    }
  }

  private static void absent(Frame frame) {
    try {
      if (frame.absence("rank 0").missing().isEmpty()) {
        throw new AssertionError("nobody is absent");
      }
    } catch (IllegalArgumentException documented) {
      // So it is refused.
    }
  }

  private static void storeRequest(byte[] bytes) {
    try {
      StoreRequest request = StoreRequest.decode(bytes);
      StoreRequest again = StoreRequest.decode(request.encode());
      if (!again.key.equals(request.key) || !Arrays.equals(again.value, request.value)) {
        throw new AssertionError("it reads otherwise than it was written");
      }
      new StoreTable().take(new Member(0, new Hello(1, Map.of()), frame -> {}), bytes);
    } catch (IllegalArgumentException documented) {
      // So it is refused.
    }
  }

  private static void storeAnswer(byte[] bytes) {
    try {
      if (!Arrays.equals(StoreAnswer.decode(bytes).frame().payload(), bytes)) {
        throw new AssertionError("it is written otherwise than it was read");
      }
    } catch (IllegalArgumentException documented) {
      // So it is refused.
    }
  }

  /** What a rank says of itself, and what it differs in from another one. */
  public static void hello(byte[] bytes) {
    try {
      Hello hello = Hello.decode(bytes);
      Hello again = Hello.decode(hello.encode());
      if (!hello.differences("one", again, "another").isEmpty()) {
        throw new AssertionError("it reads otherwise than it was written");
      }
    } catch (IllegalArgumentException documented) {
      // So it is refused.
    }
  }

  /** Slurm's list of hosts. */
  public static void hosts(String text) {
    try {
      if (HostList.parse(text).isEmpty()) {
        throw new AssertionError("a host without a name");
      }
    } catch (IllegalArgumentException documented) {
      // So it is refused.
    }
  }
}
