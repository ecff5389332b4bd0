package org.jofi.rdma.wire;

import java.util.List;

/**
 * A connector's first message.
 *
 * @param id to nobody yet, from the connector's communicator
 * @param replyAddress where the connector awaits the answer: the control rail over which it asks
 * @param nonce what the listener's handle held
 * @param listener the listener, as its handle numbers it
 * @param features what the connector offers: {@link Features}
 * @param maxMessageBytes longest message that the connector sends
 * @param rails the connector's endpoints
 * @param mailbox its mailbox, per control rail
 */
public record ConnectRequest(
    ConnectionId id,
    FabricAddress replyAddress,
    Nonce nonce,
    long listener,
    long features,
    long maxMessageBytes,
    RailAddresses rails,
    List<MailboxTarget> mailbox) {

  public ConnectRequest {
    mailbox = List.copyOf(mailbox);
  }

  /** The same, to be answered over that control rail. */
  public ConnectRequest over(int rail) {
    return new ConnectRequest(
        id, rails.control().get(rail), nonce, listener, features, maxMessageBytes, rails, mailbox);
  }

  /** The control rail over which it came; the first if it cannot be told. */
  public int rail() {
    return Math.max(0, rails.control().indexOf(replyAddress));
  }
}
