package org.jofi.fabric;

/**
 * Copies between a device and pinned host memory, asynchronously and in the order given. One thread
 * at a time. Starting and testing allocate nothing and never wait.
 *
 * <p>A copy is a number, from the call that starts it until {@link #test} said that it is over.
 * Copies end in the order in which they were started.
 */
public interface DeviceCopier extends AutoCloseable {

  /** {@link #test}: under way. */
  int IN_PROGRESS = 0;

  /** {@link #test}: done; the bytes are there. */
  int DONE = 1;

  /**
   * Starts a copy to the host.
   *
   * @return the copy, 0 or more; {@code -EAGAIN} if as many as it was opened for are under way; or
   *     another negative {@link FabricErrno}
   */
  int toHost(long deviceAddress, long hostAddress, long bytes);

  /**
   * Starts a copy to the device. What it wrote is visible to all later work of the device once
   * {@link #test} said {@link #DONE}.
   *
   * @return as {@link #toHost}
   */
  int toDevice(long hostAddress, long deviceAddress, long bytes);

  /**
   * How a copy fares. Once it is over, its number may be given to another.
   *
   * @return {@link #IN_PROGRESS}, {@link #DONE}, or a negative {@link FabricErrno}: it failed, and
   *     nothing is known of its target
   */
  int test(int copy);

  /** What a failed call's errno came from, in the driver's words; empty if none failed. */
  String failureText();

  /** Waits for what is under way, then closes it; again is a no-op. */
  @Override
  void close();
}
