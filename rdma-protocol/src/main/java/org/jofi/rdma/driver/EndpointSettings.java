package org.jofi.rdma.driver;

import java.util.function.Supplier;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.jofi.counters.written.EndpointCounters;
import org.jofi.rdma.schedule.RailRates;

/**
 * What an endpoint is given.
 *
 * @param identity which endpoint it is, to its peers: drawn at random
 * @param controlRails 1, or as many as data rails
 * @param slots operations in flight per rail and role
 * @param queueEntries capacity of a NIC's completion queue, which both roles share
 * @param packetBytes what buffers of messages take; at least the longest of the handshake
 * @param pageBytes size of a page
 * @param clock for bounds
 * @param idle what to do while an endpoint that closes is drained; one per wait
 * @param drainNs bound on that, in nanoseconds
 * @param rates of the data rails, as they are taken to be at first; one for each peer and direction
 * @param minStripeBytes least length of a message that is worth another rail
 * @param changes where changes of rails are told
 * @param counters of the endpoint and its rails
 */
public record EndpointSettings(
    long identity,
    int controlRails,
    int slots,
    int queueEntries,
    int packetBytes,
    int pageBytes,
    NanoClock clock,
    Supplier<IdleStrategy> idle,
    long drainNs,
    Supplier<RailRates> rates,
    long minStripeBytes,
    RailChanges changes,
    EndpointCounters counters) {

  /** Operations in flight that a rail gets without being told otherwise. */
  public static final int USUAL_SLOTS = 1024;

  /**
   * Capacity of a completion queue without being told otherwise: 4096 connections can announce a
   * receive each, beside deep windows of some.
   */
  public static final int USUAL_QUEUE_ENTRIES = 8_192;
}
