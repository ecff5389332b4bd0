package org.jofi.counters.written;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jofi.transport.diagnostics.Log;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a transport, in a file that other processes read, or, where there is none, in
 * this process alone. Beside it lies a file that is locked as long as this process lives: so others
 * know that it does, whatever namespace they are in. Both are deleted when it is closed, and stay
 * if the process is killed. Any thread.
 *
 * <p>All memory that is written was reserved before, with calls that can fail: shared memory that
 * is full costs counters, and never the process.
 */
public final class CounterFile implements AutoCloseable {
  private static final Log LOG = new Log(Log.Name.TRANSPORT);
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Files of this process, and leftovers of others that had its id, at most. */
  private static final int MOST_FILES = 4096;

  /** Files of processes that are dead are kept for whoever looks, so many. */
  private static final int MOST_DEAD = 64;

  private static final AtomicBoolean TOLD = new AtomicBoolean();

  private final @Nullable Shared shared;
  private final CounterBlock transport;
  private final ErrorLog errors;
  private int count;
  private boolean full;
  private boolean closed;

  /** What is shared with other processes. */
  private record Shared(Path path, FileChannel file, FileChannel lock, MemorySegment memory) {}

  /** Files that are deleted when the process ends without having closed its transports. */
  private static final class AtExit {
    static final Set<CounterFile> OPEN = ConcurrentHashMap.newKeySet();

    /** Initializes this class. */
    static void arm() {}

    static {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> OPEN.forEach(CounterFile::close), "jofi-counters"));
    }
  }

  private CounterFile(@Nullable Shared shared) {
    this.shared = shared;
    errors = shared == null ? ErrorLog.NONE : new ErrorLog(this);
    transport = block(CounterScope.TRANSPORT, "", -1, -1, -1, "");
  }

  /**
   * Counters that only this process sees.
   *
   * @return all at 0
   */
  public static CounterFile unshared() {
    return new CounterFile(null);
  }

  /**
   * Makes a file where the system property {@code jofi.counters} or the variable {@code
   * JOFI_COUNTERS} says, and else in shared memory. If that is not possible, or not wanted, the
   * counters are unshared; the first time that it is not possible is logged. Never throws.
   *
   * @param fabric the library below and its version, for whoever reads the file
   * @param now ms since 1970
   * @return what has to be closed
   */
  public static CounterFile open(String fabric, long now) {
    try {
      Optional<Path> folder = CounterFolder.path();
      if (folder.isEmpty()) {
        return unshared();
      }
      // First, since a process that ends already can have no hook, and makes no file then.
      AtExit.arm();
      CounterFolder.make(folder.get());
      DeadCounters.keep(folder.get(), MOST_DEAD);
      CounterFile made = new CounterFile(create(folder.get(), fabric, now));
      AtExit.OPEN.add(made);
      return made;
    } catch (IOException | RuntimeException | LinkageError | InternalError refused) {
      if (TOLD.compareAndSet(false, true)) {
        LOG.log(
            CounterFolder.chosen().isEmpty() ? Level.INFO : Level.WARNING,
            "counters of this process cannot be read from outside (jofi stat): %s; %s=off says that this is meant"
                .formatted(words(refused), CounterFolder.VARIABLE));
      }
      return unshared();
    }
  }

  private static String words(Throwable refused) {
    return refused.getClass() == IOException.class
        ? String.valueOf(refused.getMessage())
        : refused.toString();
  }

  private static Shared create(Path folder, String fabric, long now) throws IOException {
    long pid = ProcessHandle.current().pid();
    for (int number = 1; number <= MOST_FILES; number++) {
      Path lockPath = folder.resolve(pid + "-" + number + CounterLayout.LOCK_SUFFIX);
      Path path = folder.resolve(pid + "-" + number + CounterLayout.SUFFIX);
      if (Files.exists(path)) {
        continue;
      }
      FileChannel lock;
      try {
        lock = FileChannel.open(lockPath, Set.of(CREATE_NEW, WRITE), OWNER_ONLY);
      } catch (FileAlreadyExistsException taken) {
        continue;
      }
      try {
        // Before there is a file to read, so that nobody looks at the lock yet.
        if (lock.tryLock() == null) {
          throw new IOException(lockPath + " is locked by somebody else");
        }
        return create(path, lock, pid, fabric, now);
      } catch (IOException | RuntimeException | Error e) {
        lock.close();
        Files.deleteIfExists(lockPath);
        throw e;
      }
    }
    throw new IOException(
        "%s has %d files of process id %d: jofi stat --clean removes those of the dead"
            .formatted(folder, MOST_FILES, pid));
  }

  private static Shared create(Path path, FileChannel lock, long pid, String fabric, long now)
      throws IOException {
    FileChannel file = FileChannel.open(path, Set.of(CREATE_NEW, READ, WRITE), OWNER_ONLY);
    try {
      write(file, 0, CounterLayout.HEADER_BYTES);
      MemorySegment memory =
          file.map(FileChannel.MapMode.READ_WRITE, 0, CounterLayout.FILE_BYTES, Arena.ofAuto());
      memory.set(CounterLayout.LONG, CounterLayout.PID_AT, pid);
      memory.set(CounterLayout.LONG, CounterLayout.STARTED_AT, started());
      memory.set(CounterLayout.LONG, CounterLayout.HEARTBEAT_AT, now);
      memory.set(CounterLayout.LONG, CounterLayout.NAMESPACE_AT, namespace());
      region(
          memory,
          CounterLayout.METADATA_AT,
          CounterLayout.METADATA_BEGIN,
          CounterLayout.MOST_COUNTERS * CounterLayout.METADATA_BYTES);
      region(
          memory,
          CounterLayout.VALUES_AT,
          CounterLayout.VALUES_BEGIN,
          CounterLayout.MOST_COUNTERS * CounterLayout.VALUE_BYTES);
      region(
          memory, CounterLayout.ERRORS_AT, CounterLayout.ERRORS_BEGIN, CounterLayout.ERRORS_BYTES);
      text(memory, CounterLayout.RELEASE_AT, CounterLayout.TEXT_BYTES, version());
      text(memory, CounterLayout.FABRIC_AT, CounterLayout.TEXT_BYTES, fabric);
      memory.set(CounterLayout.INT, CounterLayout.MAGIC_AT, CounterLayout.MAGIC);
      CounterLayout.INTS.setRelease(memory, (long) CounterLayout.VERSION_AT, CounterLayout.VERSION);
      return new Shared(path, file, lock, memory);
    } catch (IOException | RuntimeException | Error e) {
      file.close();
      Files.deleteIfExists(path);
      throw e;
    }
  }

  private static void region(MemorySegment memory, long at, int begin, int bytes) {
    memory.set(CounterLayout.INT, at, begin);
    memory.set(CounterLayout.INT, at + Integer.BYTES, bytes);
  }

  /** When this process started, in ms since 1970; 0 if that is not known. */
  static long started() {
    return ProcessHandle.current().info().startInstant().map(Instant::toEpochMilli).orElse(0L);
  }

  /** Which process ids are seen from here; 0 if that is not known. */
  static long namespace() {
    try {
      return (Long) Files.getAttribute(Path.of("/proc/self/ns/pid"), "unix:ino");
    } catch (IOException | RuntimeException unknown) {
      return 0;
    }
  }

  private static String version() {
    Module module = CounterFile.class.getModule();
    String packaged = CounterFile.class.getPackage().getImplementationVersion();
    return module.isNamed()
        ? module.getDescriptor().rawVersion().orElse("unknown version")
        : packaged == null ? "unknown version" : packaged;
  }

  /** Puts a text, or as much of it as there is room for. */
  private static void text(MemorySegment memory, long at, int most, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, most);
    // No half of a character.
    while (length < bytes.length && length > 0 && (bytes[length] & 0xc0) == 0x80) {
      length--;
    }
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, at + Integer.BYTES, length);
    memory.set(CounterLayout.INT, at, length);
  }

  private static void write(FileChannel file, long at, int bytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate(bytes);
    while (zeros.hasRemaining()) {
      zeros.position(zeros.position() + file.write(zeros.slice(), at + zeros.position()));
    }
  }

  /** Takes memory for a part of the file, which is all 0 from then on. */
  void reserve(long at, long bytes) throws IOException {
    if (shared != null) {
      write(shared.file, at, (int) bytes);
    }
  }

  MemorySegment errorLog() {
    if (shared == null) {
      throw new IllegalStateException("unshared counters have no log");
    }
    return shared.memory.asSlice(CounterLayout.ERRORS_BEGIN, CounterLayout.ERRORS_BYTES);
  }

  /** {@return when this process was heard last, in ms since 1970; 0 if it is unshared} */
  long heartbeat() {
    return shared == null ? 0 : shared.memory.get(CounterLayout.LONG, CounterLayout.HEARTBEAT_AT);
  }

  /** {@return where the file is; empty if the counters are unshared} */
  public Optional<Path> path() {
    return shared == null ? Optional.empty() : Optional.of(shared.path);
  }

  /** {@return the counters of the transport} */
  public CounterBlock transport() {
    return transport;
  }

  /** {@return where failures are put in words} */
  public ErrorLog errors() {
    return errors;
  }

  /**
   * This process is alive. By one thread.
   *
   * @param now ms since 1970
   * @param roundNs how long its round of housekeeping took
   */
  public void beat(long now, long roundNs) {
    if (shared != null) {
      shared.memory.set(CounterLayout.LONG, CounterLayout.HEARTBEAT_AT, now);
    }
    transport.add(CounterType.HOUSEKEEPING_ROUNDS, 1);
    transport.set(
        CounterType.HOUSEKEEPING_LONGEST,
        Math.max(roundNs, transport.get(CounterType.HOUSEKEEPING_LONGEST)));
  }

  /**
   * Makes the counters of an endpoint and its rails.
   *
   * @param device the device's name
   * @param number the device's number
   * @param endpoint the endpoint's number
   * @param nics the NIC of each rail
   * @return all at 0; unshared if there is no room for more
   */
  public synchronized EndpointCounters endpoint(
      String device, int number, int endpoint, List<String> nics) {
    return new EndpointCounters(
        block(CounterScope.ENDPOINT, device, number, endpoint, -1, ""),
        IntStream.range(0, nics.size())
            .mapToObj(
                rail -> block(CounterScope.RAIL, device, number, endpoint, rail, nics.get(rail)))
            .toList(),
        errors);
  }

  /**
   * Makes the counters of a registration cache.
   *
   * @param device the device's name
   * @param number the device's number
   * @param cache the cache's number: that of the first endpoint that uses it
   * @return all at 0; unshared if there is no room for more
   */
  public synchronized CounterBlock registrations(String device, int number, int cache) {
    return block(CounterScope.REGISTRATIONS, device, number, cache, -1, "");
  }

  private CounterBlock block(
      CounterScope scope, String device, int number, int endpoint, int rail, String nic) {
    List<CounterType> types = CounterType.of(scope);
    Shared to = shared;
    if (to == null || closed || count + types.size() > CounterLayout.MOST_COUNTERS) {
      return CounterBlock.unshared(scope);
    }
    long values = CounterLayout.VALUES_BEGIN + (long) count * CounterLayout.VALUE_BYTES;
    long metadata = CounterLayout.METADATA_BEGIN + (long) count * CounterLayout.METADATA_BYTES;
    int valueBytes = types.size() * CounterLayout.VALUE_BYTES;
    try {
      write(to.file, metadata, types.size() * CounterLayout.METADATA_BYTES);
      write(to.file, values, valueBytes);
    } catch (IOException none) {
      if (!full) {
        full = true;
        LOG.log(
            Level.INFO,
            "there is no room for all counters in %s: %s".formatted(to.path, none.getMessage()));
      }
      return CounterBlock.unshared(scope);
    }
    for (CounterType type : types) {
      MemorySegment record = to.memory.asSlice(metadata, CounterLayout.METADATA_BYTES);
      record.set(CounterLayout.INT, CounterLayout.TYPE_AT, type.id());
      record.set(CounterLayout.INT, CounterLayout.KEY_AT, number);
      record.set(CounterLayout.INT, CounterLayout.KEY_AT + Integer.BYTES, endpoint);
      record.set(CounterLayout.INT, CounterLayout.KEY_AT + 2 * Integer.BYTES, rail);
      text(record, CounterLayout.DEVICE_AT, CounterLayout.NAME_BYTES, device);
      text(record, CounterLayout.NIC_AT, CounterLayout.NAME_BYTES, nic);
      text(
          record,
          CounterLayout.LABEL_AT,
          CounterLayout.LABEL_BYTES,
          label(type, device, endpoint, rail, nic));
      CounterLayout.INTS.setRelease(record, (long) CounterLayout.STATE_AT, CounterLayout.ALLOCATED);
      metadata += CounterLayout.METADATA_BYTES;
    }
    count += types.size();
    CounterLayout.INTS.setRelease(to.memory, (long) CounterLayout.COUNT_AT, count);
    return new CounterBlock(to.memory.asSlice(values, valueBytes));
  }

  /** For readers that know Agrona's layout alone; it begins with the name. */
  private static String label(CounterType type, String device, int endpoint, int rail, String nic) {
    return switch (type.scope()) {
      case TRANSPORT -> type.words() + ": transport";
      case ENDPOINT, REGISTRATIONS ->
          String.format(Locale.ROOT, "%s: %s, endpoint %d", type.words(), device, endpoint);
      case RAIL ->
          String.format(
              Locale.ROOT,
              "%s: %s, endpoint %d, rail %d, %s",
              type.words(),
              device,
              endpoint,
              rail,
              nic);
    };
  }

  /** Deletes the file; counters can still be written. A second call does nothing. Never throws. */
  @Override
  public synchronized void close() {
    Shared of = shared;
    if (of == null || closed) {
      return;
    }
    closed = true;
    AtExit.OPEN.remove(this);
    try {
      Files.deleteIfExists(of.path);
      Files.deleteIfExists(DeadCounters.lockOf(of.path));
      of.file.close();
      of.lock.close();
    } catch (IOException left) {
      LOG.log(Level.INFO, "the counters stay at %s: %s".formatted(of.path, left.getMessage()));
    }
  }
}
