package org.jofi.simulated.profile;

/**
 * How a profile transfers data, in addition to what it negotiates.
 *
 * @param writeData whether fi_writedata is offered
 * @param targetMustPoll whether the target serves operations only while it polls
 * @param completesOnTransmit whether a plain send or write completes when it has left, so that a
 *     refusal by the target is never reported
 * @param connects whether the first operations to a peer return {@code -EAGAIN} until a connection
 *     is made
 * @param regionsOutliveReceives whether a region with posted receives may close; if not, closing it
 *     fails with {@code EBUSY}
 * @param peerTimeoutNanos how long the NIC tries to reach a silent peer, in nanoseconds
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
