package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.LocalRegistration;
import org.jofi.rdma.message.PeerLink;
import org.jofi.rdma.message.Receiver;
import org.jofi.rdma.message.Sender;
import org.jofi.rdma.schedule.StripeScheduler;
import org.jofi.rdma.wire.MailboxTarget;

/** Makes the message engines of connections, with what a device decides: rails' speeds, limits. */
public interface ConnectionFactory {

  /** What places stripes on the endpoint's data rails: one for all connections. */
  StripeScheduler scheduler();

  /**
   * The sending side of a connection.
   *
   * @param features what both sides use
   */
  Sender sender(PeerLink link, MemorySegment mailbox, long features, long maxMessageBytes);

  /** The receiving side of a connection. */
  Receiver receiver(
      PeerLink link,
      MemorySegment copy,
      LocalRegistration registration,
      List<MailboxTarget> targets);
}
