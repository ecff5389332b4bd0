package org.jofi.transport;

/**
 * The limits of a device.
 *
 * @param maxMessageBytes longest message or one-sided operation
 * @param inlineWriteBytes longest {@link Comm#iwriteInline}
 * @param eagerBytes longest message from host memory that may leave before its receive was
 *     announced, if the peer's device allows as much; 0 if none may. See {@link
 *     TransportOptions#eagerBytes}
 * @param communicators communicators that may be open at once
 * @param receivesInFlight receives in flight per communicator, each of a group for itself
 * @param sendsInFlight sends in flight per communicator
 * @param groupedReceives receives per group
 */
public record DeviceLimits(
    long maxMessageBytes,
    int inlineWriteBytes,
    int eagerBytes,
    int communicators,
    int receivesInFlight,
    int sendsInFlight,
    int groupedReceives) {}
