package org.jofi.fabric;

import java.util.StringJoiner;

/**
 * What a region may be used for, as bits: fi_mr(3), "access". The values are libfabric's.
 *
 * <p>Ask for the least that works: a region without remote access needs no remote key.
 */
public final class Access {
  /** The local buffer of an RMA read: the data that is read arrives here. */
  public static final long READ = 1L << 8;

  /** The local buffer of an RMA write: the data that is written comes from here. */
  public static final long WRITE = 1L << 9;

  /** The buffer of a receive. */
  public static final long RECV = 1L << 10;

  /** The buffer of a send. */
  public static final long SEND = 1L << 11;

  /** Peers may read it. */
  public static final long REMOTE_READ = 1L << 12;

  /** Peers may write it. */
  public static final long REMOTE_WRITE = 1L << 13;

  /** All local uses. */
  public static final long LOCAL = READ | WRITE | RECV | SEND;

  /** All uses by peers. */
  public static final long REMOTE = REMOTE_READ | REMOTE_WRITE;

  /** Every use. */
  public static final long ALL = LOCAL | REMOTE;

  private Access() {}

  /**
   * {@return whether peers may reach a region of this access, so that it has a key to hand out}
   *
   * @param access bits of this class
   */
  public static boolean isRemote(long access) {
    return (access & REMOTE) != 0;
  }

  /**
   * {@return the names of the bits, such as {@code SEND|RECV}; {@code none} if there are none}
   *
   * @param access bits of this class; unknown ones are named together, in hexadecimal
   */
  public static String describe(long access) {
    StringJoiner names = new StringJoiner("|");
    name(names, access, READ, "READ");
    name(names, access, WRITE, "WRITE");
    name(names, access, RECV, "RECV");
    name(names, access, SEND, "SEND");
    name(names, access, REMOTE_READ, "REMOTE_READ");
    name(names, access, REMOTE_WRITE, "REMOTE_WRITE");
    long unknown = access & ~ALL;
    if (unknown != 0) {
      names.add("0x" + Long.toHexString(unknown));
    }
    return names.length() == 0 ? "none" : names.toString();
  }

  private static void name(StringJoiner names, long access, long bit, String name) {
    if ((access & bit) != 0) {
      names.add(name);
    }
  }
}
