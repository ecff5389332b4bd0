package org.jofi.fabric;

/**
 * What a provider does differently from others and fi_getinfo(3) does not tell. The provider's own
 * module knows it, from the provider's documents, its sources, or measurements; those who use the
 * provider ask for it here instead of by the provider's name.
 *
 * @param software whether there is no NIC behind it that moves data by itself. Software comes after
 *     hardware where there is a choice, and copies to GPU memory through the host. From the
 *     provider's manual page
 * @param preference which of several providers, all software or all hardware, is taken first: the
 *     one with the least number. A choice of the provider's module
 * @param copiesByProcessor whether a processor copies its data while endpoints are polled, through
 *     sockets or shared memory, so that threads of their own make them faster. Measured
 * @param smallWritesNeedDelivery whether a short write is faster with {@link
 *     PostFlags#DELIVERY_COMPLETE} than without. Measured
 * @param completionMeansDelivered whether a plain write that is complete has left this side's
 *     memory for the peer's NIC. If not, it may still be in a buffer on its way, and be overtaken
 *     by what goes over another connection. From the provider's sources
 * @param writesDataToItself whether an endpoint can write with immediate data to itself, as it can
 *     to others. From the provider's sources
 * @param eagerBytes longest message that is better copied at both sides than announced first, 0 to
 *     65 472. Measured for software; for hardware what aws-ofi-nccl takes for EFA
 * @param latencyNanos half a round trip of a short message between two processes of one machine, in
 *     nanoseconds; 0 if it was not measured
 * @param speedBitsPerSecond what an endpoint moves where its info tells no speed of a link: of
 *     providers that have no link. 0 if it was not measured
 */
public record ProviderTraits(
    boolean software,
    int preference,
    boolean copiesByProcessor,
    boolean smallWritesNeedDelivery,
    boolean completionMeansDelivered,
    boolean writesDataToItself,
    int eagerBytes,
    long latencyNanos,
    long speedBitsPerSecond) {

  private static final int HARDWARE_EAGER_BYTES = 8 * 1024;

  /** Of hardware without peculiarities: what is assumed of a provider that tells nothing. */
  public static final ProviderTraits HARDWARE =
      new ProviderTraits(false, 0, false, false, true, true, HARDWARE_EAGER_BYTES, 0, 0);
}
