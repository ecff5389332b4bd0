package org.jofi.runner;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The process in which the tests of a module run, one class after the other as it is told. What it
 * prints is the tests' own; it reports over a socket.
 */
public final class Worker {
  private Worker() {}

  /**
   * Runs classes until the runner ends the connection.
   *
   * @param args the socket's path, and JUnit's configuration parameters as {@code NAME=VALUE}
   * @throws IOException if the runner is gone
   */
  public static void main(String[] args) throws IOException {
    List<String> parameters = Stream.of(args).skip(1).toList();
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(args[0]));
      serve(
          new DataInputStream(Channels.newInputStream(channel)),
          new Events(new DataOutputStream(Channels.newOutputStream(channel))),
          parameters);
    }
    // Threads that a test left behind do not hold it up.
    Runtime.getRuntime().halt(0);
  }

  private static void serve(DataInputStream in, Events events, List<String> parameters)
      throws IOException {
    ProcessorTime time = ProcessorTime.ofThisProcess();
    try (LauncherSession session = LauncherFactory.openSession()) {
      while (true) {
        Order order = Order.read(in);
        if (order == null) {
          return;
        }
        long before = time.nanos();
        System.out.printf("--- %s%n", order.className());
        session.getLauncher().execute(request(order, parameters), events);
        System.out.flush();
        events.done(time.nanos() - before);
      }
    }
  }

  private static LauncherDiscoveryRequest request(Order order, List<String> parameters) {
    LauncherDiscoveryRequestBuilder builder =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(order.className()));
    if (!order.included().isEmpty()) {
      builder.filters(TagFilter.includeTags(order.included()));
    }
    if (!order.excluded().isEmpty()) {
      builder.filters(TagFilter.excludeTags(order.excluded()));
    }
    if (!order.method().isEmpty()) {
      builder.filters(only(order.method()));
    }
    for (String parameter : parameters) {
      int equals = parameter.indexOf('=');
      builder.configurationParameter(
          parameter.substring(0, equals), parameter.substring(equals + 1));
    }
    return builder.build();
  }

  private static PostDiscoveryFilter only(String method) {
    return descriptor ->
        FilterResult.includedIf(
            descriptor
                .getSource()
                .map(
                    source ->
                        !(source instanceof MethodSource one) || one.getMethodName().equals(method))
                .orElse(true));
  }

  /**
   * What it is told to run.
   *
   * @param method the only method, or nothing
   */
  record Order(String className, String method, List<String> included, List<String> excluded) {
    void write(DataOutputStream out) throws IOException {
      out.writeUTF(className);
      out.writeUTF(method);
      out.writeUTF(String.join("\n", included));
      out.writeUTF(String.join("\n", excluded));
      out.flush();
    }

    private static @Nullable Order read(DataInputStream in) throws IOException {
      try {
        String className = in.readUTF();
        return new Order(className, in.readUTF(), tags(in.readUTF()), tags(in.readUTF()));
      } catch (EOFException over) {
        return null;
      }
    }

    private static List<String> tags(String text) {
      return Stream.of(text.split("\n", -1)).filter(tag -> !tag.isEmpty()).toList();
    }
  }
}
