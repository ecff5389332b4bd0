package org.jofi.rdma.connect;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.mr.registration.Descriptors;
import org.jofi.rdma.engine.ReceiveProtocol;
import org.jofi.rdma.engine.SendProtocol;
import org.jofi.rdma.request.PeerLink;
import org.jofi.rdma.wire.EagerGrant;
import org.jofi.rdma.wire.MailboxTarget;

/**
 * Makes what moves the messages of connections, with what a device decides, such as how many at
 * once.
 */
public interface ConnectionFactory {

  /** The sending side of a connection, with the features that both sides use. */
  SendProtocol sender(
      PeerLink link, MemorySegment mailbox, long features, long maxMessageBytes, EagerGrant eager);

  /** The receiving side of a connection. */
  ReceiveProtocol receiver(
      PeerLink link,
      MemorySegment copy,
      Descriptors registration,
      List<MailboxTarget> targets,
      EagerGrant eager);
}
