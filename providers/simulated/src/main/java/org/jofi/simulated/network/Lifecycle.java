package org.jofi.simulated.network;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;
import org.jofi.simulated.contract.Rule;
import org.jofi.simulated.trace.History;

/** Whether an object is open, what uses it, and its history. Under the network's lock. */
public final class Lifecycle {
  private final Network network;
  private final long serial;
  private final History history;
  private final List<Lifecycle> users = new ArrayList<>();
  private volatile boolean open = true;

  public Lifecycle(Network network, String label) {
    this.network = network;
    this.serial = network.serial();
    this.history = new History(network.clock(), label + " #" + serial);
    history.add("opened", 0);
    network.opened(this);
  }

  public long serial() {
    return serial;
  }

  public History history() {
    return history;
  }

  public String label() {
    return history.label();
  }

  public boolean isOpen() {
    return open;
  }

  /** Adds an object that uses this one and must close first. */
  public void addUser(Lifecycle user) {
    users.add(user);
  }

  public void removeUser(Lifecycle user) {
    users.remove(user);
  }

  boolean hasUsers() {
    return !users.isEmpty();
  }

  /** Refuses a call on a closed object. */
  public void requireOpen(String call) {
    if (!open) {
      String detail = label() + " is closed";
      throw network
          .contracts()
          .misuse(
              Rule.USE_AFTER_CLOSE,
              call,
              history,
              detail,
              new IllegalStateException(call + ": " + detail));
    }
  }

  /** Refuses to close while other objects use this one. */
  public void requireUnused(Rule rule, String call) {
    if (users.isEmpty()) {
      return;
    }
    String detail = label() + " is used by " + users.stream().map(Lifecycle::label).toList();
    throw network
        .contracts()
        .misuse(
            rule,
            call,
            history,
            detail,
            new FabricException(call, FabricErrno.EBUSY, detail, label()));
  }

  /** Marks it closed. */
  public void close() {
    open = false;
    history.add("closed", 0);
    network.closed(this);
  }

  @Override
  public String toString() {
    return label();
  }
}
