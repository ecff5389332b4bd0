package org.jofi.nccl;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jofi.fabric.DmaBuf;
import org.jofi.fabric.MemoryKind;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.SendComm;
import org.jofi.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the plugin: NCCL's network API, implemented with the transport. Any thread.
 * Pointers are passed as addresses and handles. Every function returns an ncclResult_t; an
 * exception is converted to one by {@link NcclResult#of(Throwable)} before it can leave Java.
 */
final class NetPlugin {
  private static final int CONTEXT_KIND = 1;
  private static final int LISTENER_KIND = 2;
  private static final int COMM_KIND = 3;
  private static final int REGION_KIND = 4;

  /** Largest number of communicators at once: the transport has as many ids. */
  private static final int MAX_COMMS = 1 << 16;

  private static final int MAX_REGIONS = 1 << 20;

  private final PluginLog log;
  private final Duration patience;
  private final TransportLease lease;
  private final DeviceWarmUps warmUps;
  private final PendingConnections pending = new PendingConnections();
  private final HandleTable<Object> contexts =
      new HandleTable<>("context", CONTEXT_KIND, MAX_COMMS);
  private final HandleTable<ListenComm> listeners =
      new HandleTable<>("listener", LISTENER_KIND, MAX_COMMS);
  private final HandleTable<PluginComm> comms =
      new HandleTable<>("communicator", COMM_KIND, MAX_COMMS);
  private final HandleTable<Region> regions = new HandleTable<>("region", REGION_KIND, MAX_REGIONS);

  /** The request table of each slot that a communicator ever had. */
  private final AtomicReferenceArray<@Nullable RequestTable> requests =
      new AtomicReferenceArray<>(MAX_COMMS);

  /**
   * @param opener opens the transport, when it is needed
   */
  NetPlugin(Supplier<Transport> opener, PluginLog log) {
    this(opener, log, CommGate.USUAL_PATIENCE, new DeviceWarmUps(log));
  }

  /**
   * @param opener opens the transport, when it is needed
   * @param patience how long a thread waits for another one that is using the same communicator
   */
  NetPlugin(Supplier<Transport> opener, PluginLog log, Duration patience) {
    this(opener, log, patience, new DeviceWarmUps(log));
  }

  /**
   * @param opener opens the transport, when it is needed
   * @param patience how long a thread waits for another one that is using the same communicator
   * @param warmUps warms up devices
   */
  NetPlugin(Supplier<Transport> opener, PluginLog log, Duration patience, DeviceWarmUps warmUps) {
    this.log = log;
    this.patience = patience;
    this.warmUps = warmUps;
    lease = new TransportLease(opener);
  }

  /** Makes a context for one NCCL communicator. */
  int init(long contextOut) {
    boolean first = contexts.isEmpty();
    lease.take();
    try {
      RawMemory.putLong(contextOut, contexts.add(ignored -> new Object()));
    } catch (RuntimeException full) {
      lease.giveBack();
      throw full;
    }
    if (first) {
      lease.devices().forEach(device -> log.info("device " + describe(device.properties())));
    }
    return NcclResult.SUCCESS;
  }

  private static String describe(DeviceProperties device) {
    return "%d: %s, %s, %d rail(s), %d Mbit/s, %s; %s"
        .formatted(
            device.index(),
            device.name(),
            device.provider(),
            device.rails().size(),
            device.speedMegabitsPerSecond(),
            device.memory().stream().map(path -> path.kind() + " " + path.path()).toList(),
            String.join("; ", device.groupingReasons()));
  }

  /**
   * Ends a context. NCCL communicators that share a context may end it several times. Connections
   * that they still have open stay open, and so does the transport.
   */
  int finalizeContext(long context) {
    if (contexts.find(context) == null) {
      if (!contexts.isKind(context)) {
        throw new IllegalArgumentException("0x%x is no context".formatted(context));
      }
      return NcclResult.SUCCESS;
    }
    contexts.remove(context);
    if (contexts.isEmpty()) {
      pending.close();
    }
    lease.giveBack();
    return NcclResult.SUCCESS;
  }

  /** Returns the number of devices. */
  int devices(long countOut) {
    RawMemory.putInt(countOut, lease.devices().size());
    return NcclResult.SUCCESS;
  }

  /** Returns the properties of a device. */
  int getProperties(int device, long properties) {
    PropertiesStruct.put(lease.device(device).properties(), properties);
    return NcclResult.SUCCESS;
  }

  /** Listens, and writes the handle for connectors. */
  int listen(long context, int device, long handle, long listenerOut) {
    checkContext(context);
    lease.take();
    try {
      warmUps.before(lease.device(device));
      ListenComm listener = lease.device(device).listen();
      try {
        byte[] bytes = listener.handle().encode();
        RawMemory.slice(handle, ConnectHandle.MAX_BYTES)
            .fill((byte) 0)
            .copyFrom(MemorySegment.ofArray(bytes));
        RawMemory.putLong(listenerOut, listeners.add(ignored -> listener));
      } catch (RuntimeException failed) {
        listener.close();
        throw failed;
      }
    } catch (RuntimeException failed) {
      lease.giveBack();
      throw failed;
    }
    return NcclResult.SUCCESS;
  }

  /** Connects; writes 0 as long as the connection is not made. */
  int connect(long context, int device, long handle, long senderOut) {
    RawMemory.putLong(senderOut, 0);
    checkContext(context);
    warmUps.before(lease.device(device));
    byte[] bytes = RawMemory.slice(handle, ConnectHandle.MAX_BYTES).toArray(ValueLayout.JAVA_BYTE);
    ConnectHandle peer = ConnectHandle.decode(bytes);
    SendComm comm = pending.poll(handle, peer, () -> lease.device(device).connect(peer));
    if (comm != null) {
      try {
        RawMemory.putLong(
            senderOut,
            add(
                self ->
                    new PluginSendComm(
                        comm, requestsOf(HandleTable.slot(self)), new CommGate(patience), log)));
      } catch (RuntimeException full) {
        comm.close();
        throw full;
      }
    }
    return NcclResult.SUCCESS;
  }

  /** Accepts; writes 0 as long as there is no connection. */
  int accept(long listener, long receiverOut) {
    RawMemory.putLong(receiverOut, 0);
    RecvComm comm = listeners.get(listener).accept();
    if (comm != null) {
      try {
        RawMemory.putLong(
            receiverOut,
            add(
                self ->
                    new PluginRecvComm(
                        comm, requestsOf(HandleTable.slot(self)), new CommGate(patience), log)));
      } catch (RuntimeException full) {
        comm.close();
        throw full;
      }
    }
    return NcclResult.SUCCESS;
  }

  private long add(LongFunction<PluginComm> create) {
    lease.take();
    try {
      return comms.add(create);
    } catch (RuntimeException full) {
      lease.giveBack();
      throw full;
    }
  }

  private RequestTable requestsOf(int slot) {
    RequestTable table = requests.getAcquire(slot);
    if (table == null) {
      table = new RequestTable(slot);
      requests.setRelease(slot, table);
    }
    return table;
  }

  private void checkContext(long context) {
    if (!contexts.isKind(context)) {
      throw new IllegalArgumentException("0x%x is no context".formatted(context));
    }
  }

  /**
   * Registers memory.
   *
   * @param type NCCL_PTR_HOST, NCCL_PTR_CUDA or NCCL_PTR_DMABUF
   * @param gpu ordinal of the GPU, -1 if unknown
   * @param offset into the dma-buf
   * @param fd of the dma-buf, or -1
   */
  int regMr(
      long comm, long data, long size, int type, int gpu, long offset, int fd, long regionOut) {
    RawMemory.putLong(regionOut, 0);
    Memory memory = memory(data, size, type, gpu);
    if (fd >= 0) {
      memory = memory.through(new DmaBuf(fd, offset));
    }
    RawMemory.putLong(regionOut, comms.get(comm).register(comm, memory, regions));
    return NcclResult.SUCCESS;
  }

  private static Memory memory(long data, long size, int type, int gpu) {
    if (type == PropertiesStruct.HOST) {
      return Memory.host(data, size);
    }
    if (type != PropertiesStruct.CUDA && type != PropertiesStruct.DMA_BUF) {
      throw new IllegalArgumentException("no memory of type %d can be registered".formatted(type));
    }
    if (gpu < 0) {
      throw new IllegalArgumentException(
          "cannot tell which GPU the memory at 0x%x belongs to".formatted(data));
    }
    return Memory.device(MemoryKind.CUDA, gpu, data, size);
  }

  /** Deregisters memory. */
  int deregMr(long comm, long region) {
    checkRegion(comm, region);
    comms.get(comm).deregister(region, regions);
    return NcclResult.SUCCESS;
  }

  private void checkRegion(long comm, long region) {
    if (regions.get(region).comm() != comm) {
      throw new IllegalArgumentException(
          "region 0x%x is another communicator's than 0x%x".formatted(region, comm));
    }
  }

  /** Sends; writes 0 if it has to be called again. */
  int isend(long comm, long data, long size, int tag, long region, long requestOut) {
    RawMemory.putLong(requestOut, 0);
    RawMemory.putLong(
        requestOut, sender(comm).isend(data, size, tag, regions.get(region).registration()));
    return NcclResult.SUCCESS;
  }

  /** Receives; writes 0 if it has to be called again. */
  int irecv(long comm, int count, long data, long sizes, long tags, long handles, long requestOut) {
    RawMemory.putLong(requestOut, 0);
    checkCount(count);
    RawMemory.putLong(requestOut, receiver(comm).irecv(count, data, sizes, tags, handles, regions));
    return NcclResult.SUCCESS;
  }

  /** Flushes; writes 0 if there is nothing to wait for. */
  int iflush(long comm, int count, long data, long sizes, long handles, long requestOut) {
    RawMemory.putLong(requestOut, 0);
    checkCount(count);
    RawMemory.putLong(requestOut, receiver(comm).iflush(count, data, sizes, handles, regions));
    return NcclResult.SUCCESS;
  }

  private static void checkCount(int count) {
    if (count < 1 || count > PluginRecvComm.MAX_RECEIVES) {
      throw new IllegalArgumentException(
          "%d receives in one request; 1 to %d are possible"
              .formatted(count, PluginRecvComm.MAX_RECEIVES));
    }
  }

  private PluginSendComm sender(long comm) {
    if (comms.get(comm) instanceof PluginSendComm sender) {
      return sender;
    }
    throw new IllegalArgumentException("0x%x receives, it does not send".formatted(comm));
  }

  private PluginRecvComm receiver(long comm) {
    if (comms.get(comm) instanceof PluginRecvComm receiver) {
      return receiver;
    }
    throw new IllegalArgumentException("0x%x sends, it does not receive".formatted(comm));
  }

  /** Tests a request. */
  int test(long request, long done, long sizes) {
    PluginComm comm = RequestTable.isRequest(request) ? comms.at(RequestTable.comm(request)) : null;
    if (comm == null) {
      throw new IllegalArgumentException(
          "0x%x is no request, or its communicator is closed".formatted(request));
    }
    return comm.test(request, done, sizes);
  }

  /** Closes a sending communicator. */
  int closeSend(long comm) {
    return close(comm, sender(comm));
  }

  /** Closes a receiving communicator. */
  int closeRecv(long comm) {
    return close(comm, receiver(comm));
  }

  private int close(long handle, PluginComm comm) {
    comm.close(regions, () -> forget(handle));
    return NcclResult.SUCCESS;
  }

  /** Frees the slot and its request table. Nobody may use them any more. */
  private void forget(long handle) {
    comms.remove(handle);
    lease.giveBack();
  }

  /** Closes a listener. */
  int closeListen(long listener) {
    ListenComm comm = listeners.remove(listener);
    try {
      comm.close();
    } finally {
      lease.giveBack();
    }
    return NcclResult.SUCCESS;
  }
}
