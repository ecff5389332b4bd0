package org.jofi.mr;

import java.util.List;

/**
 * The rails of one multi-rail endpoint, by role. A multi-rail endpoint implements this; what is
 * registered for it is registered on the rails of the role that uses it, and on no other.
 *
 * <p>The lists never change. It needs no identity of its own: {@link DeviceRegistrations#attach}
 * gives each endpoint a generation that no other endpoint ever had.
 */
public interface EndpointRails {

  /** What errors call the multi-rail endpoint. */
  String label();

  /** Rails that carry users' data, 1 or more, in the order that stripes are numbered in. */
  List<Rail> dataRails();

  /** Rails that carry control mailboxes, 1 or more. They may share NICs with data rails. */
  List<Rail> controlRails();
}
