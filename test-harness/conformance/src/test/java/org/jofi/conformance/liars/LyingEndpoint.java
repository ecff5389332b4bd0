package org.jofi.conformance.liars;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.EndpointLimits;
import org.jofi.fabric.EndpointOption;
import org.jofi.fabric.FabricErrno;

/** An endpoint behind a lie, with what is posted on it. */
final class LyingEndpoint implements Endpoint {
  /** A posted receive. */
  record Receive(long address, long bytes) {}

  final LyingDomain domain;
  final LyingDomain.LyingVector peers;
  final LyingQueue transmitQueue;
  final LyingQueue receiveQueue;
  final Map<Integer, Receive> receives = new LinkedHashMap<>();
  final Map<Integer, Post> inFlight = new LinkedHashMap<>();
  final List<LyingRegion> bound = new ArrayList<>();
  boolean open = true;
  int addressCalls;
  private final Endpoint real;

  LyingEndpoint(
      LyingDomain domain,
      Endpoint real,
      LyingDomain.LyingVector peers,
      LyingQueue transmitQueue,
      LyingQueue receiveQueue) {
    this.domain = domain;
    this.real = real;
    this.peers = peers;
    this.transmitQueue = transmitQueue;
    this.receiveQueue = receiveQueue;
  }

  Endpoint real() {
    return real;
  }

  /** The endpoint that a peer's number stands for. */
  LyingEndpoint peer(long number) {
    return number >= 0 && number < peers.peers.size() ? peers.peers.get((int) number) : null;
  }

  /** Hands an operation to the provider. */
  int pass(Post post) {
    int code = post.to(real);
    if (code == 0) {
      domain.provider.posts.incrementAndGet();
      if (post.kind() != Post.Kind.INJECT) {
        inFlight.put(post.context(), post);
      }
    }
    return code;
  }

  private int post(Post post) {
    return domain.lie().post(this, post);
  }

  @Override
  public Domain domain() {
    return domain;
  }

  @Override
  public String label() {
    return real.label();
  }

  @Override
  public byte[] address() {
    addressCalls++;
    return domain.lie().address(this);
  }

  @Override
  public EndpointLimits limits() {
    return real.limits();
  }

  @Override
  public long option(EndpointOption option) {
    return real.option(option);
  }

  @Override
  public void setOption(EndpointOption option, long value) {
    real.setOption(option, value);
  }

  @Override
  public int send(long address, long bytes, long descriptor, long peer, int context, long flags) {
    return post(
        new Post(Post.Kind.SEND, address, bytes, descriptor, 0, peer, 0, 0, context, flags));
  }

  @Override
  public int sendData(
      long address, long bytes, long descriptor, long data, long peer, int context, long flags) {
    return post(
        new Post(
            Post.Kind.SEND_DATA, address, bytes, descriptor, data, peer, 0, 0, context, flags));
  }

  @Override
  public int inject(long address, long bytes, long peer) {
    return post(new Post(Post.Kind.INJECT, address, bytes, 0, 0, peer, 0, 0, 0, 0));
  }

  @Override
  public int recv(long address, long bytes, long descriptor, long peer, int context) {
    int code = domain.lie().recv(this, address, bytes, descriptor, peer, context);
    if (code == 0) {
      domain.provider.posts.incrementAndGet();
      receives.put(context, new Receive(address, bytes));
    }
    return code;
  }

  @Override
  public int write(
      long address,
      long bytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    return post(
        new Post(
            Post.Kind.WRITE,
            address,
            bytes,
            descriptor,
            0,
            peer,
            remoteAddress,
            key,
            context,
            flags));
  }

  @Override
  public int writeData(
      long address,
      long bytes,
      long descriptor,
      long data,
      long peer,
      long remoteAddress,
      long key,
      int context,
      long flags) {
    return post(
        new Post(
            Post.Kind.WRITE_DATA,
            address,
            bytes,
            descriptor,
            data,
            peer,
            remoteAddress,
            key,
            context,
            flags));
  }

  @Override
  public int read(
      long address,
      long bytes,
      long descriptor,
      long peer,
      long remoteAddress,
      long key,
      int context) {
    return post(
        new Post(
            Post.Kind.READ, address, bytes, descriptor, 0, peer, remoteAddress, key, context, 0));
  }

  @Override
  public int cancel(int context) {
    return domain.lie().cancel(this, context);
  }

  @Override
  public void close() {
    domain.provider.calls.incrementAndGet();
    domain.lie().closeEndpoint(this);
    open = false;
  }

  /** Posts an operation some time after now, in a slot that nobody sees. */
  void later(long millis, Post post) {
    Post hidden = post.withContext(transmitQueue.hiddenContext());
    transmitQueue.later(millis, () -> open && post(real, hidden) == -FabricErrno.EAGAIN);
  }

  private static int post(Endpoint real, Post post) {
    return post.to(real);
  }
}
