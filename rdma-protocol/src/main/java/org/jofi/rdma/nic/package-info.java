/**
 * What an endpoint has of a NIC: a rail with its endpoint and addresses, the completion queue, the
 * contexts of what is posted, and buffers for what arrives. Nothing here knows a peer. Used with
 * the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.nic;

import org.jspecify.annotations.NullMarked;
