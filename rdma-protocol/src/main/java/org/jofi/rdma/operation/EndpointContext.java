package org.jofi.rdma.operation;

import org.jofi.counters.written.EndpointCounters;

/**
 * What the connections of an endpoint share, whoever their peers are.
 *
 * @param label what errors call it
 * @param dataRails how many, usable or not
 * @param controlRails as many, or 1
 * @param packetBytes what a packet has room for
 * @param smallWritesNeedDelivery whether a short write is faster if it completes on delivery
 * @param completionMeansDelivered whether a write that completed has left for the peer's NIC
 * @param tasks that are not done
 * @param budget room for what peers write
 * @param counters of the endpoint and its rails
 */
public record EndpointContext(
    String label,
    int dataRails,
    int controlRails,
    int packetBytes,
    boolean smallWritesNeedDelivery,
    boolean completionMeansDelivered,
    Tasks tasks,
    ArrivalBudget budget,
    EndpointCounters counters) {}
