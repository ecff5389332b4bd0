/**
 * The exact format of everything that two peers exchange. All integers are little-endian.
 *
 * <p>Data from a peer is not trusted until it is checked: decoders check every field, never throw,
 * and report what is wrong as a {@link org.jofi.rdma.wire.WireFault}. Each message has exactly one
 * valid encoding.
 */
@NullMarked
package org.jofi.rdma.wire;

import org.jspecify.annotations.NullMarked;
