package org.jofi.transport;

/**
 * The limits of a device.
 *
 * @param maxMessageBytes longest message or one-sided operation
 * @param inlineWriteBytes longest {@link Comm#iwriteInline}
 * @param communicators communicators that may be open at once
 * @param receivesInFlight receives in flight per communicator, each of a group for itself
 * @param sendsInFlight sends in flight per communicator
 * @param groupedReceives receives per group
 */
public record DeviceLimits(
    long maxMessageBytes,
    int inlineWriteBytes,
    int communicators,
    int receivesInFlight,
    int sendsInFlight,
    int groupedReceives) {}
