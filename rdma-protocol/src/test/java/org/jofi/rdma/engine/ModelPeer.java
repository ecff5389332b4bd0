package org.jofi.rdma.engine;

import java.util.function.BooleanSupplier;
import org.jofi.rdma.operation.Packet;
import org.jofi.rdma.operation.PeerControl;
import org.jofi.rdma.wire.RailUpdate;
import org.jofi.transport.Failure;
import org.jspecify.annotations.Nullable;

/** A peer whose process lives, and whose rails are never silent, nor closed. */
final class ModelPeer implements PeerControl {
  @Override
  public void heard() {
    // It always is.
  }

  @Override
  public void fellSilent() {
    throw closes();
  }

  @Override
  public boolean isSilent() {
    return false;
  }

  @Override
  public boolean takeQuestion() {
    return false;
  }

  @Override
  public @Nullable Failure stall(long now, long boundNs) {
    return null;
  }

  @Override
  public @Nullable RailUpdate takeUpdate() {
    return null;
  }

  @Override
  public boolean told(RailUpdate update) {
    throw closes();
  }

  @Override
  public void giveUpFences() {
    throw closes();
  }

  @Override
  public BooleanSupplier cut(Failure why) {
    throw closes();
  }

  @Override
  public void sendOver(int rail, Packet packet, int lengthBytes) {
    throw closes();
  }

  private static UnsupportedOperationException closes() {
    return new UnsupportedOperationException("its rails are never closed");
  }
}
