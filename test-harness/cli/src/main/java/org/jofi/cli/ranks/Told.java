package org.jofi.cli.ranks;

import java.nio.ByteBuffer;
import org.jofi.ranks.RanksException;

/** Reads what ranks told each other, which another release may mean otherwise. */
public final class Told {
  private Told() {}

  /**
   * Numbers of 8 bytes each.
   *
   * @param told what a rank told
   * @param count how many they have to be
   * @throws RanksException if they are not as many
   */
  public static ByteBuffer numbers(byte[] told, int count) {
    if (told.length != count * Long.BYTES) {
      throw notUnderstood();
    }
    return ByteBuffer.wrap(told);
  }

  /** The exception for what is no such thing as was awaited. */
  public static RanksException notUnderstood() {
    return new RanksException(FabricEnd.NOT_UNDERSTOOD);
  }
}
