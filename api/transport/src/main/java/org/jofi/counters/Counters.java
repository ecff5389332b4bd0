package org.jofi.counters;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jofi.counters.written.CounterBytes;
import org.jofi.counters.written.CounterFolder;
import org.jofi.counters.written.CounterLayout;
import org.jofi.counters.written.CounterType;
import org.jofi.counters.written.DeadCounters;

/**
 * The counters of a transport of some process, read from the file that it writes. A process has a
 * file for each transport that it has open, in {@code /dev/shm/jofi-USER}, or where the system
 * property {@code jofi.counters} or the variable {@code JOFI_COUNTERS} says. Only its user can read
 * it, and root. A process that closes its transport deletes it; that of one that was killed stays,
 * with what it counted last, until {@link #remove}.
 *
 * <p>Any thread. Reading costs the other process nothing, and needs none of its locks: each value
 * is right, but they are not of one instant. Gauges are written some 20 times each second. Whatever
 * is in the file, no method crashes the JVM or waits; what cannot be understood is left out, or an
 * {@link IOException}. An interrupt of a thread that reads closes the file, as with all channels.
 */
public final class Counters implements AutoCloseable {
  /** How a process is doing whose counters are read. */
  public enum ProcessState {
    /** It lives, even if it is stopped. */
    RUNNING,
    /** It ended without closing its transport: its counters are what it counted last. */
    DEAD,
    /** That cannot be said: the lock file beside the counters is missing, or cannot be read. */
    UNKNOWN
  }

  private static final int MAX_REGION = 64 << 20;

  private final Path path;
  private final CounterBytes bytes;
  private final Region metadata;
  private final Region values;
  private final Region errors;
  private final String jofi;
  private final String fabric;

  /** A part of the file. */
  private record Region(long begin, int length) {
    static Region at(CounterBytes bytes, int where, Path path) throws IOException {
      int begin = bytes.intAt(where);
      int length = bytes.intAt(where + Integer.BYTES);
      if (begin < CounterLayout.HEADER_BYTES
          || length < 0
          || length > MAX_REGION
          || begin % Long.BYTES != 0) {
        throw new CountersFormatException(
            "%s is damaged: %d bytes at %d are no part of it".formatted(path, length, begin));
      }
      return new Region(begin, length);
    }
  }

  private Counters(Path path, CounterBytes bytes) throws IOException {
    this.path = path;
    this.bytes = bytes;
    if (bytes.intAt(CounterLayout.MAGIC_AT) != CounterLayout.MAGIC) {
      throw new CountersFormatException(
          path + " has no counters, or its process is just making it");
    }
    int version = bytes.intAt(CounterLayout.VERSION_AT);
    if (version == 0) {
      throw new CountersFormatException(path + " is not complete yet: its process is making it");
    }
    if (version < 0 || version > CounterLayout.VERSION) {
      throw new CountersFormatException(
          "%s is of version %d, and this reads up to %d: use the jofi of the process, or a newer one"
              .formatted(path, version, CounterLayout.VERSION));
    }
    metadata = Region.at(bytes, CounterLayout.METADATA_AT, path);
    values = Region.at(bytes, CounterLayout.VALUES_AT, path);
    errors = Region.at(bytes, CounterLayout.ERRORS_AT, path);
    ByteBuffer header = bytes.read(0, CounterLayout.HEADER_BYTES);
    jofi = text(header, CounterLayout.RELEASE_AT, CounterLayout.TEXT_BYTES);
    fabric = text(header, CounterLayout.FABRIC_AT, CounterLayout.TEXT_BYTES);
  }

  /**
   * Opens a file of counters, to read.
   *
   * @param file where it is, as {@link #files} has it
   * @return what has to be closed
   * @throws CountersFormatException if it is no such file, not complete yet, damaged, or of a later
   *     version of jofi
   * @throws IOException if it does not exist any more, or cannot be read
   */
  public static Counters attach(Path file) throws IOException {
    CounterBytes bytes = CounterBytes.open(file);
    try {
      return new Counters(file, bytes);
    } catch (IOException | RuntimeException e) {
      bytes.close();
      throw e;
    }
  }

  /**
   * Where processes of this user have their counters.
   *
   * @return the folder, which need not exist; empty if {@code jofi.counters} or {@code
   *     JOFI_COUNTERS} is {@code off}
   * @throws IOException if one of these names no absolute path
   */
  public static Optional<Path> folder() throws IOException {
    return CounterFolder.path();
  }

  /**
   * The files in {@link #folder}.
   *
   * @return of processes that live and of some that do not, by name
   * @throws IOException if the folder cannot be read
   */
  public static List<Path> files() throws IOException {
    Optional<Path> folder = folder();
    return folder.isEmpty() ? List.of() : files(folder.get());
  }

  /**
   * The files of counters in a folder.
   *
   * @param folder that of another user, for instance
   * @return of processes that live and of some that do not, by name; none if there is no such
   *     folder
   * @throws IOException if the folder cannot be read
   */
  public static List<Path> files(Path folder) throws IOException {
    return DeadCounters.files(folder);
  }

  /**
   * The files in {@link #folder} whose process lives.
   *
   * @return by name
   * @throws IOException if the folder cannot be read
   */
  public static List<Path> running() throws IOException {
    return files().stream().filter(file -> state(file) == ProcessState.RUNNING).toList();
  }

  /**
   * Deletes the file of a process that is proven dead: nobody holds the lock of the file beside it,
   * whatever container the process was in. One that lives, or may, is left.
   *
   * @param file where it is
   * @return whether it was deleted
   * @throws IOException if it cannot be
   */
  public static boolean remove(Path file) throws IOException {
    return DeadCounters.remove(file);
  }

  /**
   * How the process of a file is doing.
   *
   * @param file where it is
   * @return what can be said of it now
   */
  public static ProcessState state(Path file) {
    return switch (DeadCounters.look(file)) {
      case RUNNING -> ProcessState.RUNNING;
      case DEAD -> ProcessState.DEAD;
      case UNKNOWN -> ProcessState.UNKNOWN;
    };
  }

  /** {@return where the file is} */
  public Path path() {
    return path;
  }

  /**
   * How its process is doing.
   *
   * @return what can be said of it now
   */
  public ProcessState state() {
    return state(path);
  }

  /**
   * Which process writes it.
   *
   * @return its id, as it sees it itself: in another container, not as it is seen from here
   * @throws IOException if the file cannot be read
   */
  public long pid() throws IOException {
    return bytes.longAt(CounterLayout.PID_AT);
  }

  /**
   * When its process started.
   *
   * @return to about 10 ms; the epoch if the process did not know
   * @throws IOException if the file cannot be read
   */
  public Instant started() throws IOException {
    return Instant.ofEpochMilli(bytes.longAt(CounterLayout.STARTED_AT));
  }

  /**
   * When its process last did its housekeeping, ten times each second. One that is stopped, or
   * stuck in a provider, has an old one.
   *
   * @return by the clock of its machine
   * @throws IOException if the file cannot be read
   */
  public Instant heartbeat() throws IOException {
    return Instant.ofEpochMilli(bytes.longAt(CounterLayout.HEARTBEAT_AT));
  }

  /** {@return the version of jofi that writes it} */
  public String jofi() {
    return jofi;
  }

  /** {@return the library of NICs below, and its version} */
  public String fabric() {
    return fabric;
  }

  /**
   * All counters that there are now. Further ones come when a device is first used.
   *
   * @return in the order in which they were made
   * @throws IOException if the file cannot be read
   */
  public List<Counter> list() throws IOException {
    int most =
        Math.min(
            metadata.length / CounterLayout.METADATA_BYTES,
            values.length / CounterLayout.VALUE_BYTES);
    int count = Math.clamp(bytes.intAt(CounterLayout.COUNT_AT), 0, most);
    ByteBuffer records = bytes.read(metadata.begin, count * CounterLayout.METADATA_BYTES);
    ByteBuffer numbers = bytes.read(values.begin, count * CounterLayout.VALUE_BYTES);
    List<Counter> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int record = i * CounterLayout.METADATA_BYTES;
      int number = i * CounterLayout.VALUE_BYTES;
      // A file that became shorter has fewer.
      if (record + CounterLayout.METADATA_BYTES <= records.limit()
          && number + Long.BYTES <= numbers.limit()
          && records.getInt(record + CounterLayout.STATE_AT) == CounterLayout.ALLOCATED) {
        all.add(counter(records, record, numbers.getLong(number)));
      }
    }
    return all;
  }

  private static Counter counter(ByteBuffer records, int at, long value) {
    int id = records.getInt(at + CounterLayout.TYPE_AT);
    Optional<CounterType> type = CounterType.of(id);
    String label = text(records, at + CounterLayout.LABEL_AT, CounterLayout.LABEL_BYTES);
    return new Counter(
        id,
        type.map(CounterType::words).orElseGet(() -> label.replaceFirst(":.*", "")),
        type.map(CounterType::isTotal).orElse(false),
        type.map(CounterType::unit).orElse(""),
        text(records, at + CounterLayout.DEVICE_AT, CounterLayout.NAME_BYTES),
        records.getInt(at + CounterLayout.KEY_AT),
        records.getInt(at + CounterLayout.KEY_AT + Integer.BYTES),
        records.getInt(at + CounterLayout.KEY_AT + 2 * Integer.BYTES),
        text(records, at + CounterLayout.NIC_AT, CounterLayout.NAME_BYTES),
        value);
  }

  /**
   * Reads a counter again: cheaper than all of them.
   *
   * @param index its place in {@link #list}, 0 or more
   * @return its value now; empty if there is none of that index
   * @throws IOException if the file cannot be read
   */
  public OptionalLong value(int index) throws IOException {
    if (index < 0 || index >= bytes.intAt(CounterLayout.COUNT_AT)) {
      return OptionalLong.empty();
    }
    long at = (long) index * CounterLayout.VALUE_BYTES;
    return at + Long.BYTES > values.length
        ? OptionalLong.empty()
        : OptionalLong.of(bytes.longAt(values.begin + at));
  }

  /**
   * What failed in the process since it started, each distinct thing once.
   *
   * @return in the order in which they were seen first
   * @throws IOException if the file cannot be read
   */
  public List<CountedError> errors() throws IOException {
    ByteBuffer log = bytes.read(errors.begin, errors.length);
    List<CountedError> all = new ArrayList<>();
    int at = 0;
    while (at + CounterLayout.ERROR_TEXT_AT <= log.limit()) {
      int length = log.getInt(at + CounterLayout.ERROR_LENGTH_AT);
      if (length < CounterLayout.ERROR_TEXT_AT || length > log.limit() - at) {
        break;
      }
      byte[] text = new byte[length - CounterLayout.ERROR_TEXT_AT];
      log.get(at + CounterLayout.ERROR_TEXT_AT, text);
      all.add(
          new CountedError(
              new String(text, StandardCharsets.UTF_8),
              Math.max(1, log.getInt(at + CounterLayout.ERROR_COUNT_AT)),
              Instant.ofEpochMilli(log.getLong(at + CounterLayout.ERROR_FIRST_AT)),
              Instant.ofEpochMilli(log.getLong(at + CounterLayout.ERROR_LAST_AT))));
      at += (length + CounterLayout.ERROR_ALIGNMENT - 1) & -CounterLayout.ERROR_ALIGNMENT;
    }
    return all;
  }

  private static String text(ByteBuffer from, int at, int most) {
    if (at + Integer.BYTES > from.limit()) {
      return "";
    }
    int length = Math.clamp(from.getInt(at), 0, most);
    byte[] text = new byte[Math.clamp(from.limit() - at - Integer.BYTES, 0, length)];
    from.get(at + Integer.BYTES, text);
    return new String(text, StandardCharsets.UTF_8);
  }

  /**
   * Closes the file. A second call does nothing.
   *
   * @throws IOException if that fails
   */
  @Override
  public void close() throws IOException {
    bytes.close();
  }

  /** {@return where the file is} */
  @Override
  public String toString() {
    return path.toString();
  }
}
