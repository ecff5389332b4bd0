/**
 * Messages of one connection: the sending side finds the receives in its mailbox and writes into
 * them, the receiving side posts entries and counts stripes. Used with the endpoint's lock held.
 */
@NullMarked
package org.jofi.rdma.message;

import org.jspecify.annotations.NullMarked;
