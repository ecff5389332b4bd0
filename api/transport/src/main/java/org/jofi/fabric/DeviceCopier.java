package org.jofi.fabric;

/**
 * Copies between a device and pinned host memory, asynchronously and in the order given. One thread
 * at a time. Starting and testing allocate nothing and never wait.
 *
 * <p>The call that starts a copy returns a number for it. The number is valid until {@link #test}
 * reports that the copy is over. Copies end in the order in which they were started.
 */
public interface DeviceCopier extends AutoCloseable {

  /** {@link #test}: the copy is in progress. */
  int IN_PROGRESS = 0;

  /** {@link #test}: the copy is done. */
  int DONE = 1;

  /**
   * Starts a copy to the host.
   *
   * @param deviceAddress first byte to copy from, on the device
   * @param hostAddress first byte to copy to, in pinned host memory
   * @param bytes how many
   * @return the number of the copy, 0 or more; {@code -EAGAIN} if no more copies may be in progress
   *     at once; or another negative {@link FabricErrno}
   */
  int toHost(long deviceAddress, long hostAddress, long bytes);

  /**
   * Starts a copy to the device. The data is visible to all later work of the device once {@link
   * #test} has returned {@link #DONE}.
   *
   * @param hostAddress first byte to copy from, in pinned host memory
   * @param deviceAddress first byte to copy to, on the device
   * @param bytes how many
   * @return as {@link #toHost}
   */
  int toDevice(long hostAddress, long deviceAddress, long bytes);

  /**
   * The state of a copy. Once the copy is over, its number may be used for another one.
   *
   * @param copy its number, whose end was not reported yet
   * @return {@link #IN_PROGRESS}, {@link #DONE}, or a negative {@link FabricErrno} if it failed;
   *     the content of its target is undefined then
   */
  int test(int copy);

  /** {@return the driver's text for the last failure; empty if no call failed} */
  String failureText();

  /** Waits for the copies in progress, then closes this. A second call does nothing. */
  @Override
  void close();
}
