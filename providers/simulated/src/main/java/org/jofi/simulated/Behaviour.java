package org.jofi.simulated;

/**
 * How a profile moves data, beyond what it negotiates.
 *
 * @param writeData whether fi_writedata is offered
 * @param targetMustPoll whether nothing is served at the target unless it polls
 * @param completesOnTransmit whether a plain send or write completes when it has left, so that a
 *     refusal by the target is never reported
 * @param connects whether the first operations to a peer get {@code -EAGAIN} until a connection
 *     stands
 * @param regionsOutliveReceives whether a region with posted receives may close; if not, closing it
 *     is {@code EBUSY}
 * @param peerTimeoutNanos how long a silent peer is tried, in nanoseconds
 */
public record Behaviour(
    boolean writeData,
    boolean targetMustPoll,
    boolean completesOnTransmit,
    boolean connects,
    boolean regionsOutliveReceives,
    long peerTimeoutNanos) {

  Behaviour withWriteData(boolean offered) {
    return new Behaviour(
        offered,
        targetMustPoll,
        completesOnTransmit,
        connects,
        regionsOutliveReceives,
        peerTimeoutNanos);
  }
}
