package org.jofi.mr.scope;

import java.util.List;

/**
 * The rails of one multi-rail endpoint, by role. A multi-rail endpoint implements this. Memory is
 * registered only on the rails of the role that uses it.
 *
 * <p>How many there are never changes; a rail may get another endpoint, as far as {@link
 * MrScope#outlivesEndpoints registrations outlive that}. It needs no identity of its own: {@code
 * DeviceRegistrations} gives each endpoint a unique generation number.
 */
public interface EndpointRails {

  /** The multi-rail endpoint's name in error messages. */
  String label();

  /** Rails that carry users' data, 1 or more, in the order that stripes are numbered in. */
  List<Rail> dataRails();

  /** Rails that carry control mailboxes, 1 or more. They may share NICs with data rails. */
  List<Rail> controlRails();
}
