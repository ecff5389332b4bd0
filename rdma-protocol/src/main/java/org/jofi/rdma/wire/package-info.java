/**
 * What travels between two sides, to the bit. All integers are little-endian.
 *
 * <p>What comes from a peer is hostile until it was checked: decoders look at every field, never
 * throw, and tell what is wrong as a {@link org.jofi.rdma.wire.WireFault}. What they accept, they
 * would write the same: each message has one encoding.
 */
@NullMarked
package org.jofi.rdma.wire;

import org.jspecify.annotations.NullMarked;
