package org.jofi.simulated;

import java.util.ArrayList;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.FabricException;

/** Whether an object is open, what uses it, and its history. Under the network's lock. */
final class Lifecycle {
  private final Network network;
  private final long serial;
  private final History history;
  private final List<Lifecycle> users = new ArrayList<>();
  private volatile boolean open = true;

  Lifecycle(Network network, String label) {
    this.network = network;
    this.serial = network.serial();
    this.history = new History(network.clock(), label + " #" + serial);
    history.add("opened", 0);
    network.opened(this);
  }

  long serial() {
    return serial;
  }

  History history() {
    return history;
  }

  String label() {
    return history.label();
  }

  boolean isOpen() {
    return open;
  }

  /** Adds an object that uses this one and must close first. */
  void addUser(Lifecycle user) {
    users.add(user);
  }

  void removeUser(Lifecycle user) {
    users.remove(user);
  }

  boolean hasUsers() {
    return !users.isEmpty();
  }

  /** Refuses a call on a closed object. */
  void requireOpen(String call) {
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
  void requireUnused(Rule rule, String call) {
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
  void close() {
    open = false;
    history.add("closed", 0);
    network.closed(this);
  }

  @Override
  public String toString() {
    return label();
  }
}
