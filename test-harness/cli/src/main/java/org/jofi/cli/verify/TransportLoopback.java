package org.jofi.cli.verify;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import org.jofi.fabric.DeviceMemory;
import org.jofi.transport.Await;
import org.jofi.transport.Comm;
import org.jofi.transport.ConnectAttempt;
import org.jofi.transport.Device;
import org.jofi.transport.Failure;
import org.jofi.transport.FailureCause;
import org.jofi.transport.IdleStrategy;
import org.jofi.transport.ListenComm;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Registration;
import org.jofi.transport.Result;
import org.jofi.transport.SendComm;
import org.jofi.transport.TransportException;
import org.jofi.transport.Use;
import org.jspecify.annotations.Nullable;

/**
 * A path from host memory to a target through two communicators of one device, so that the same
 * NICs send and receive. One thread drives both communicators.
 */
public final class TransportLoopback implements DeliveryPath {
  private static final int TAG = 0x6a6f6669;
  private static final Duration BOUND = Duration.ofSeconds(20);
  private static final long GUARD_BYTES = 4096;

  private final Device device;
  private final @Nullable DeviceMemory gpu;
  private final long messageBytes;
  private final VerifiedMemory source;
  private VerifiedMemory target;
  private final SendComm sender;
  private final RecvComm receiver;
  private final Registration sourceRegistration;
  private Registration targetRegistration;

  private TransportLoopback(
      Device device,
      @Nullable DeviceMemory gpu,
      long messageBytes,
      VerifiedMemory source,
      VerifiedMemory target,
      SendComm sender,
      RecvComm receiver) {
    this.device = device;
    this.gpu = gpu;
    this.messageBytes = messageBytes;
    this.source = source;
    this.target = target;
    this.sender = sender;
    this.receiver = receiver;
    sourceRegistration = sender.register(source.memory(), Use.SEND);
    targetRegistration = receiver.register(target.memory(), Use.RECEIVE);
  }

  /**
   * Connects a device with itself, and registers memory.
   *
   * @param gpu the GPU whose memory the target is in; null for host memory
   * @throws TransportException if the device cannot do this
   */
  public static TransportLoopback open(Device device, @Nullable DeviceMemory gpu, long bytes) {
    RecvComm receiver = null;
    SendComm sender = null;
    try (ListenComm listener = device.listen();
        ConnectAttempt attempt = device.connect(listener.handle())) {
      long deadline = System.nanoTime() + BOUND.toNanos();
      while (receiver == null || sender == null) {
        if (System.nanoTime() - deadline > 0) {
          throw new TransportException(
              FailureCause.TIMED_OUT,
              "%s did not connect to itself within %s"
                  .formatted(device.properties().name(), BOUND));
        }
        receiver = receiver == null ? listener.accept() : receiver;
        sender = attempt.poll();
        Thread.yield();
      }
    }
    VerifiedMemory source = new VerifiedMemory(null, bytes);
    VerifiedMemory target = new VerifiedMemory(gpu, bytes + 2 * GUARD_BYTES);
    boolean open = false;
    try {
      TransportLoopback loopback =
          new TransportLoopback(device, gpu, bytes, source, target, sender, receiver);
      open = true;
      return loopback;
    } finally {
      if (!open) {
        closeAll(sender, receiver, source, target);
      }
    }
  }

  @Override
  public String describe() {
    return "host memory to %s over %s (%s, %d rail(s))"
        .formatted(
            gpu == null ? "host memory" : gpu.description().name() + " memory",
            device.properties().name(),
            device.properties().provider(),
            device.properties().rails().size());
  }

  /**
   * Frees the target and allocates it anew, mostly where it was. The transport is not told, so that
   * what it keeps of the old registration, if anything, is of memory that is gone.
   *
   * @return whether the new target has the address of the old one
   */
  public boolean reallocateTarget() {
    long before = target.address();
    targetRegistration.close();
    target.close();
    target = new VerifiedMemory(gpu, messageBytes + 2 * GUARD_BYTES);
    targetRegistration = receiver.register(target.memory(), Use.RECEIVE);
    return target.address() == before;
  }

  /** How the NICs access the target, as text. */
  public String targetPath() {
    return targetRegistration.path();
  }

  @Override
  public long messageBytes() {
    return messageBytes;
  }

  @Override
  public long guardBytes() {
    return GUARD_BYTES;
  }

  @Override
  public void putSource(MemorySegment bytes) {
    source.put(bytes);
  }

  @Override
  public void putTarget(MemorySegment bytes) {
    target.put(bytes);
  }

  @Override
  public Optional<String> send() {
    long receive = receiver.irecv(targetRegistration, GUARD_BYTES, messageBytes, TAG);
    long send = Result.TRY_AGAIN;
    long sent = Result.IN_PROGRESS;
    long received = Result.IN_PROGRESS;
    long deadline = System.nanoTime() + BOUND.toNanos();
    while (sent == Result.IN_PROGRESS || received == Result.IN_PROGRESS) {
      if (System.nanoTime() - deadline > 0) {
        return Optional.of(
            "within %s %s"
                .formatted(BOUND, sent == Result.IN_PROGRESS ? "not sent" : "nothing came"));
      }
      if (send == Result.TRY_AGAIN) {
        send = sender.isend(sourceRegistration, 0, messageBytes, TAG);
      } else if (sent == Result.IN_PROGRESS) {
        sent = sender.test(send);
      }
      if (received == Result.IN_PROGRESS) {
        received = receiver.test(receive);
      }
      Thread.yield();
    }
    Optional<String> unsent = problem("send", sender, send, sent);
    return unsent.isPresent() ? unsent : problem("receive", receiver, receive, received);
  }

  private Optional<String> problem(String what, Comm comm, long request, long result) {
    if (result == messageBytes) {
      return Optional.empty();
    }
    return Optional.of(
        result < 0
            ? comm.failure(request)
                .map(Failure::toString)
                .orElse(what + ": " + Result.describe(result))
            : "the %s reported %d of %d bytes".formatted(what, result, messageBytes));
  }

  @Override
  public Flush flush() {
    long request = receiver.iflush(targetRegistration, 0, messageBytes);
    if (request == Result.NOTHING_TO_DO) {
      return Flush.NOT_NEEDED;
    }
    new Await(IdleStrategy.yielding()).request(receiver, request, BOUND);
    return Flush.DONE;
  }

  @Override
  public Flush flushOtherwise() {
    return gpu != null && gpu.flushRemoteWrites() == 0 ? Flush.DONE : Flush.IMPOSSIBLE;
  }

  @Override
  public void settle(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - end < 0) {
      sender.progress();
      receiver.progress();
      Thread.yield();
    }
  }

  @Override
  public void readTarget(MemorySegment into) {
    target.read(into);
  }

  @Override
  public void close() {
    closeAll(sender, receiver, source, target);
  }

  private static void closeAll(
      SendComm sender, RecvComm receiver, VerifiedMemory source, VerifiedMemory target) {
    // Closing the communicators deregisters the memory. Abort them, since a close would wait for
    // the peer, which is this thread.
    try {
      sender.abort();
    } finally {
      try {
        receiver.abort();
      } finally {
        source.close();
        target.close();
      }
    }
  }
}
