package org.jofi.rdma.engine;

import java.lang.foreign.MemorySegment;
import org.jofi.fabric.Access;
import org.jofi.mr.registration.BufferRange;
import org.jofi.mr.registration.DataRegistration;

/** Registered memory of a model: counts its uses. */
final class ModelMemory implements DataRegistration {
  private final BufferRange range;
  private final long key;
  private int uses;

  ModelMemory(MemorySegment memory, long key) {
    range = BufferRange.host(memory);
    this.key = key;
  }

  boolean isInUse() {
    return uses > 0;
  }

  boolean contains(long address, long bytes) {
    return address >= range.address() && address + bytes <= range.address() + range.lengthBytes();
  }

  @Override
  public BufferRange range() {
    return range;
  }

  @Override
  public long access() {
    return Access.ALL;
  }

  @Override
  public int rails() {
    return ModelLink.RAILS;
  }

  @Override
  public long descriptor(int rail) {
    return key;
  }

  @Override
  public long key(int rail) {
    return key;
  }

  @Override
  public long remoteAddress(int rail, long address) {
    return address;
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public boolean beginUse() {
    uses++;
    return true;
  }

  @Override
  public void endUse() {
    uses--;
  }

  @Override
  public void release() {
    // The model keeps it.
  }

  @Override
  public void retire() {
    // As above.
  }
}
