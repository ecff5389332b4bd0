package org.jofi.nccl;

import java.lang.foreign.Arena;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jofi.fabric.ProviderRelease;
import org.jofi.transport.ConnectHandle;
import org.jofi.transport.Device;
import org.jofi.transport.DeviceProperties;
import org.jofi.transport.ListenComm;
import org.jofi.transport.Memory;
import org.jofi.transport.RecvComm;
import org.jofi.transport.Transport;
import org.jofi.transport.TransportOptions;

/** A transport of one device, whose listeners accept the communicators that a test gives. */
final class FakeTransport implements Transport {
  private static final DeviceProperties PROPERTIES = FakeProperties.of(0, "fake0");

  private final Queue<RecvComm> coming;

  /**
   * @param coming what accept gives, one after the other
   */
  FakeTransport(List<RecvComm> coming) {
    this.coming = new ArrayDeque<>(coming);
  }

  /** An object whose calls a test answers. */
  static <T> T fake(Class<T> type, InvocationHandler calls) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
  }

  @Override
  public List<Device> devices() {
    return List.of(
        fake(
            Device.class,
            (proxy, method, arguments) ->
                method.getName().equals("listen") ? listener() : PROPERTIES));
  }

  private ListenComm listener() {
    return fake(
        ListenComm.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "accept" -> coming.remove();
              case "handle" ->
                  ConnectHandle.of(
                      1, new byte[16], List.of(new byte[] {1}), 3, ProviderRelease.UNTOLD);
              default -> null;
            });
  }

  @Override
  public TransportOptions options() {
    return TransportOptions.builder().build();
  }

  @Override
  public Arena openArena() {
    return Arena.ofShared();
  }

  @Override
  public void forget(Memory memory) {
    // It registers nothing.
  }

  @Override
  public void close() {}
}
