package org.jofi.simulated;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jofi.fabric.DeviceAdder;
import org.jofi.fabric.DeviceAllocation;
import org.jofi.fabric.DeviceCopier;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceProbe;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.MemoryKind;
import org.jofi.simulated.memory.ProcessMemory;
import org.jofi.simulated.network.Network;

/**
 * A simulated device. A copy takes time and transfers its bytes at the end of it. So a program that
 * changes the source too early, or reads the target before the copy is over, gets wrong bytes.
 * Copies check the rules: they are between device memory and pinned host memory. Sums take device
 * memory only.
 */
public final class SimulatedDevice implements DeviceMemory {
  /** The latency of a copy. */
  static final long COPY_LATENCY_NANOS = 8_000;

  /** How many bytes a copy transfers in a microsecond. */
  static final long BYTES_PER_MICROSECOND = 25_000;

  private final Network network;
  private final SimulatedHost host;
  private final MemoryKind kind;
  // Threads pin while others copy.
  private final Map<Long, Long> pinned = new ConcurrentHashMap<>();
  private final Set<Long> allocated = new HashSet<>();
  private int copiers;
  private int adders;
  private long copies;
  private long sums;
  private long failsAt = Long.MAX_VALUE;

  SimulatedDevice(Network network, SimulatedHost host, MemoryKind kind) {
    this.network = network;
    this.host = host;
    this.kind = kind;
  }

  /** Makes one copy fail, after this many more. */
  public void failCopyAfter(long more) {
    failsAt = copies + more;
  }

  /** How many copies were started. */
  public long copies() {
    return copies;
  }

  /** How many sums were computed. */
  public long sums() {
    return sums;
  }

  /** How many ranges of host memory are pinned. */
  public int pinned() {
    return pinned.size();
  }

  @Override
  public MemoryKind kind() {
    return kind;
  }

  @Override
  public DeviceProbe.Device description() {
    return new DeviceProbe.Device(
        0,
        "pretended " + kind,
        Optional.empty(),
        Long.MAX_VALUE,
        "0.0",
        false,
        false,
        DeviceProbe.FlushCall.NONE,
        DeviceProbe.WriteOrdering.NONE);
  }

  @Override
  public long allocate(long bytes) {
    MemorySegment memory = host.allocateDevice(kind, bytes);
    allocated.add(memory.address());
    return memory.address();
  }

  @Override
  public void free(long address) {
    if (!allocated.remove(address)) {
      throw new IllegalArgumentException("0x%x was not allocated here".formatted(address));
    }
  }

  @Override
  public DeviceAllocation allocation(long address) {
    return find(address, 1)
        .orElseThrow(
            () ->
                new FabricException(
                    "allocation", FabricErrno.EFAULT, "", "0x" + Long.toHexString(address)));
  }

  @Override
  public DmaBuf exportDmaBuf(long address, long lengthBytes) {
    throw new FabricException(
        "exportDmaBuf", FabricErrno.EOPNOTSUPP, "a pretended device has none", host.toString());
  }

  @Override
  public void closeDmaBuf(DmaBuf exported) {
    throw new IllegalArgumentException("no dma-buf was exported");
  }

  @Override
  public void pin(long hostAddress, long bytes) {
    if (isPinned(hostAddress, bytes)) {
      throw new FabricException("pin", FabricErrno.EBUSY, "pinned already", host.toString());
    }
    pinned.put(hostAddress, bytes);
  }

  @Override
  public void unpin(long hostAddress) {
    if (pinned.remove(hostAddress) == null) {
      throw new FabricException("unpin", FabricErrno.EINVAL, "not pinned", host.toString());
    }
  }

  @Override
  public int flushRemoteWrites() {
    return -FabricErrno.EOPNOTSUPP;
  }

  @Override
  public void copyToHost(long deviceAddress, long hostAddress, long bytes) {
    ProcessMemory.copy(deviceAddress, hostAddress, bytes);
  }

  @Override
  public void copyFromHost(long hostAddress, long deviceAddress, long bytes) {
    ProcessMemory.copy(hostAddress, deviceAddress, bytes);
  }

  @Override
  public DeviceCopier openCopier(int slots) {
    copiers++;
    return new Copier(slots);
  }

  @Override
  public DeviceAdder openAdder() {
    adders++;
    return new Adder();
  }

  @Override
  public void close() {
    if (copiers > 0 || adders > 0 || !allocated.isEmpty()) {
      throw new IllegalStateException(
          "%d copiers, %d adders and %d allocations are open"
              .formatted(copiers, adders, allocated.size()));
    }
  }

  private Optional<DeviceAllocation> find(long address, long bytes) {
    network.enter();
    try {
      return network.deviceMemory().allocation(kind, address, bytes);
    } finally {
      network.exit();
    }
  }

  private boolean isPinned(long address, long bytes) {
    return pinned.entrySet().stream()
        .anyMatch(
            range ->
                address >= range.getKey() && address + bytes <= range.getKey() + range.getValue());
  }

  /** Works at once: the caller waits for it, and a wait in here would stop virtual time. */
  private final class Adder implements DeviceAdder {
    private boolean closed;

    @Override
    public void addFloats(long sumAddress, long summandAddress, long count) {
      requireOpen();
      if (((sumAddress | summandAddress) & 3) != 0 || count < 0) {
        throw new IllegalArgumentException(
            "cannot add %d elements at 0x%x to those at 0x%x"
                .formatted(count, summandAddress, sumAddress));
      }
      long bytes = count * Float.BYTES;
      requireOwn("addFloats", sumAddress, summandAddress, bytes);
      ProcessMemory.addFloats(sumAddress, summandAddress, count);
      sums++;
    }

    @Override
    public void copy(long fromAddress, long toAddress, long bytes) {
      requireOpen();
      if (bytes < 0) {
        throw new IllegalArgumentException("cannot copy %d bytes".formatted(bytes));
      }
      requireOwn("copy", fromAddress, toAddress, bytes);
      ProcessMemory.copy(fromAddress, toAddress, bytes);
    }

    private void requireOpen() {
      if (closed) {
        throw new IllegalStateException("the adder is closed");
      }
    }

    private void requireOwn(String call, long one, long other, long bytes) {
      if (find(one, bytes).isEmpty() || find(other, bytes).isEmpty()) {
        throw new FabricException(
            call,
            FabricErrno.EFAULT,
            "%d bytes at 0x%x or at 0x%x are not the device's".formatted(bytes, one, other),
            host.toString());
      }
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        adders--;
      }
    }
  }

  /** Does copies one after another, each at its time. */
  private final class Copier implements DeviceCopier {
    private final long[] from;
    private final long[] to;
    private final long[] length;
    private final long[] due;
    private final boolean[] underWay;
    private final boolean[] fails;
    private int next;
    private long busyUntil;
    private String failureText = "";
    private boolean closed;

    Copier(int slots) {
      from = new long[slots];
      to = new long[slots];
      length = new long[slots];
      due = new long[slots];
      underWay = new boolean[slots];
      fails = new boolean[slots];
    }

    @Override
    public int toHost(long deviceAddress, long hostAddress, long bytes) {
      return start(deviceAddress, hostAddress, bytes, deviceAddress, hostAddress);
    }

    @Override
    public int toDevice(long hostAddress, long deviceAddress, long bytes) {
      return start(hostAddress, deviceAddress, bytes, deviceAddress, hostAddress);
    }

    private int start(long source, long target, long bytes, long device, long hostAddress) {
      if (closed) {
        throw new IllegalStateException("the copier is closed");
      }
      if (underWay[next]) {
        return -FabricErrno.EAGAIN;
      }
      if (find(device, bytes).isEmpty() || !isPinned(hostAddress, bytes)) {
        failureText =
            "%d bytes between device 0x%x and host 0x%x: no device memory, or not pinned"
                .formatted(bytes, device, hostAddress);
        return -FabricErrno.EFAULT;
      }
      int slot = next;
      next = (next + 1) % from.length;
      long now = network.clock().nanoTime();
      busyUntil = Math.max(busyUntil, now) + bytes * 1000 / BYTES_PER_MICROSECOND;
      from[slot] = source;
      to[slot] = target;
      length[slot] = bytes;
      due[slot] = busyUntil + COPY_LATENCY_NANOS;
      underWay[slot] = true;
      fails[slot] = copies++ == failsAt;
      return slot;
    }

    @Override
    public int test(int copy) {
      if (!underWay[copy]) {
        throw new IllegalArgumentException("no copy %d is under way".formatted(copy));
      }
      if (network.clock().nanoTime() < due[copy]) {
        return IN_PROGRESS;
      }
      underWay[copy] = false;
      if (fails[copy]) {
        failureText = "a copy failed, as planned";
        return -FabricErrno.EIO;
      }
      ProcessMemory.copy(from[copy], to[copy], length[copy]);
      return DONE;
    }

    @Override
    public String failureText() {
      return failureText;
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        copiers--;
      }
    }
  }
}
