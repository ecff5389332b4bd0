package org.jofi.abidouble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Endpoints and their regions, of all processes whose doubles share it: what a NIC knows when an
 * operation arrives, and an initiator elsewhere does not. Records are only ever added; each has a
 * state.
 *
 * <p>Any thread, any process.
 */
final class Board {
  static final int NONE = 0;
  static final int ENDPOINT_OPEN = 1;
  static final int ENDPOINT_CLOSED = 2;
  static final int REGION_BOUND = 3;
  static final int REGION_ENABLED = 4;
  static final int REGION_CLOSED = 5;

  private static final int RECORDS = 1 << 16;
  private static final long RECORD_BYTES = 128;
  private static final VarHandle LONGS = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle INTS = ValueLayout.JAVA_INT.varHandle();

  /** Of the first record, which is none: how many there are, and how many keys were given. */
  private static final long COUNT = 8;

  private static final long KEYS = 16;

  private static final long STATE = 0;
  private static final long ENDPOINT = 8;
  private static final long KEY = 16;
  private static final long LENGTH = 24;
  private static final long ACCESS = 32;
  private static final long TEXT_BYTES = 40;
  private static final long TEXT = 44;
  private static final int MOST_TEXT = (int) (RECORD_BYTES - TEXT);

  /** Keys of the double's have their first byte, so that none looks like an index or an address. */
  private static final long KEY_TAG = 0x6AL << 56;

  private final MemorySegment memory;

  private Board(MemorySegment memory) {
    this.memory = memory;
  }

  /** The board in that file, made if need be; one of this process's own if there is no file. */
  static Board open(Optional<Path> file) {
    long bytes = RECORDS * RECORD_BYTES;
    if (file.isEmpty()) {
      return new Board(Arena.ofAuto().allocate(bytes, 64));
    }
    try (FileChannel channel =
        FileChannel.open(
            file.get(),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return new Board(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot share regions through " + file.get(), e);
    }
  }

  /** A key that nobody was given before. */
  long newKey() {
    return KEY_TAG | ((long) LONGS.getAndAdd(memory, KEYS, 1L) + 1);
  }

  /** An endpoint was enabled. */
  int addEndpoint(String address) {
    int record = add();
    byte[] text = address.getBytes(StandardCharsets.UTF_8);
    if (text.length > MOST_TEXT) {
      throw new IllegalArgumentException("address too long: " + address);
    }
    MemorySegment.copy(text, 0, memory, ValueLayout.JAVA_BYTE, at(record) + TEXT, text.length);
    memory.set(ValueLayout.JAVA_INT, at(record) + TEXT_BYTES, text.length);
    state(record, ENDPOINT_OPEN);
    return record;
  }

  /** A region was bound to an endpoint; its key may not be known yet. */
  int addRegion(int endpoint, long key, long lengthBytes, long access) {
    int record = add();
    memory.set(ValueLayout.JAVA_LONG, at(record) + ENDPOINT, endpoint);
    memory.set(ValueLayout.JAVA_LONG, at(record) + KEY, key);
    memory.set(ValueLayout.JAVA_LONG, at(record) + LENGTH, lengthBytes);
    memory.set(ValueLayout.JAVA_LONG, at(record) + ACCESS, access);
    state(record, REGION_BOUND);
    return record;
  }

  void state(int record, int state) {
    INTS.setRelease(memory, at(record) + STATE, state);
  }

  int state(int record) {
    return (int) INTS.getAcquire(memory, at(record) + STATE);
  }

  long lengthBytes(int record) {
    return memory.get(ValueLayout.JAVA_LONG, at(record) + LENGTH);
  }

  long access(int record) {
    return memory.get(ValueLayout.JAVA_LONG, at(record) + ACCESS);
  }

  /** The latest endpoint at that address; {@link #NONE} if there never was one. */
  int endpoint(String address) {
    byte[] text = address.getBytes(StandardCharsets.UTF_8);
    for (int record = count(); record > 0; record--) {
      int state = state(record);
      if ((state == ENDPOINT_OPEN || state == ENDPOINT_CLOSED) && hasText(record, text)) {
        return record;
      }
    }
    return NONE;
  }

  /** The latest region of that endpoint with that key; {@link #NONE} if there never was one. */
  int region(int endpoint, long key) {
    for (int record = count(); record > endpoint; record--) {
      if (isRegion(record, key)
          && memory.get(ValueLayout.JAVA_LONG, at(record) + ENDPOINT) == endpoint) {
        return record;
      }
    }
    return NONE;
  }

  /** Whether another endpoint has an enabled region with that key. */
  boolean isElsewhere(long key) {
    for (int record = count(); record > 0; record--) {
      if (isRegion(record, key) && state(record) == REGION_ENABLED) {
        return true;
      }
    }
    return false;
  }

  private boolean isRegion(int record, long key) {
    int state = state(record);
    return (state == REGION_BOUND || state == REGION_ENABLED || state == REGION_CLOSED)
        && memory.get(ValueLayout.JAVA_LONG, at(record) + KEY) == key;
  }

  private boolean hasText(int record, byte[] text) {
    return memory.get(ValueLayout.JAVA_INT, at(record) + TEXT_BYTES) == text.length
        && memory.asSlice(at(record) + TEXT, text.length).mismatch(MemorySegment.ofArray(text))
            == -1;
  }

  private int add() {
    long record = (long) LONGS.getAndAdd(memory, COUNT, 1L) + 1;
    if (record >= RECORDS) {
      throw new IllegalStateException("no room for more than %d records".formatted(RECORDS));
    }
    return (int) record;
  }

  private int count() {
    return (int) Math.min((long) LONGS.getAcquire(memory, COUNT), RECORDS - 1);
  }

  private static long at(int record) {
    return record * RECORD_BYTES;
  }
}
