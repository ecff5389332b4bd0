package org.jofi.rdma.device;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jofi.fabric.DeviceMemory;
import org.jofi.fabric.DeviceMemoryProvider;
import org.jofi.fabric.FabricException;
import org.jofi.fabric.FabricUnavailableException;
import org.jofi.fabric.MemoryKind;
import org.jofi.mr.teardown.CloseSteps;
import org.jofi.transport.FailureCause;
import org.jofi.transport.TransportException;

/**
 * The GPUs whose memory is registered, opened when the first of it is. No driver is looked for
 * before. Any thread.
 */
public final class DeviceMemories implements AutoCloseable {
  private final Function<MemoryKind, Optional<DeviceMemoryProvider>> providers;
  // Guarded by this object's monitor.
  private final Map<String, DeviceMemory> opened = new LinkedHashMap<>();

  public DeviceMemories(Function<MemoryKind, Optional<DeviceMemoryProvider>> providers) {
    this.providers = providers;
  }

  /**
   * The memory of a GPU.
   *
   * @throws TransportException with {@link FailureCause#UNAVAILABLE}, and what helps, if there is
   *     no driver for it, or it cannot be opened
   */
  public synchronized DeviceMemory open(MemoryKind kind, int device) {
    String name = kind + " device " + device;
    DeviceMemory known = opened.get(name);
    if (known != null) {
      return known;
    }
    DeviceMemoryProvider provider =
        providers
            .apply(kind)
            .orElseThrow(
                () ->
                    new TransportException(
                        FailureCause.UNAVAILABLE,
                        "nothing here drives %s memory: put its provider's jar, such as jofi-cuda,"
                                .formatted(kind)
                            + " on the module path"));
    try {
      DeviceMemory memory = provider.open(device);
      opened.put(name, memory);
      return memory;
    } catch (FabricUnavailableException | FabricException e) {
      throw new TransportException(
          FailureCause.UNAVAILABLE, "%s: %s".formatted(name, e.getMessage()), e);
    }
  }

  /** As {@link #open}, or empty if that is not possible. */
  public Optional<DeviceMemory> find(MemoryKind kind, int device) {
    try {
      return Optional.of(open(kind, device));
    } catch (TransportException unavailable) {
      // Registering may work without it: NICs may accept memory for which there is no provider
      // here.
      return Optional.empty();
    }
  }

  /**
   * Closes all of them; a second call does nothing.
   *
   * @throws IllegalStateException while blocks or copies of one are open
   */
  @Override
  public synchronized void close() {
    CloseSteps steps = new CloseSteps();
    opened.values().removeIf(memory -> steps.step(memory::close));
    steps.end();
  }
}
