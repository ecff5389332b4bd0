package org.jofi.transport;

/**
 * What a device takes.
 *
 * @param maxMessageBytes longest message or one-sided operation
 * @param inlineWriteBytes longest {@link Comm#iwriteInline}
 * @param communicators communicators at once
 * @param receivesInFlight receives in flight per communicator; a group counts once
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
