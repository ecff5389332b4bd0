package org.jofi.rdma.wire;

/**
 * How a receiver reaches the sender's mailbox through one control rail.
 *
 * @param address its first byte, as the fabric addresses it
 * @param key its key
 */
public record MailboxTarget(long address, long key) {}
