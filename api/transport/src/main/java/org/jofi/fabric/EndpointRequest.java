package org.jofi.fabric;

import java.util.Map;
import java.util.Objects;

/**
 * How an endpoint shall be opened.
 *
 * @param label what errors call it, such as {@code data rail 0}
 * @param addressVector its peers
 * @param transmitQueue where sends, writes and reads report
 * @param receiveQueue where receives and arrivals report; may be the same queue
 * @param options set before it is enabled; an option that the provider lacks fails the opening
 */
public record EndpointRequest(
    String label,
    AddressVector addressVector,
    CompletionQueue transmitQueue,
    CompletionQueue receiveQueue,
    Map<EndpointOption, Long> options) {

  public EndpointRequest {
    Objects.requireNonNull(label);
    Objects.requireNonNull(addressVector);
    Objects.requireNonNull(transmitQueue);
    Objects.requireNonNull(receiveQueue);
    options = Map.copyOf(options);
  }

  /** An endpoint with one queue for everything and no options. */
  public static EndpointRequest of(
      String label, AddressVector addressVector, CompletionQueue queue) {
    return new EndpointRequest(label, addressVector, queue, queue, Map.of());
  }

  /** This request, with an option set before enabling. */
  public EndpointRequest withOption(EndpointOption option, long value) {
    Map<EndpointOption, Long> more = new java.util.EnumMap<>(EndpointOption.class);
    more.putAll(options);
    more.put(option, value);
    return new EndpointRequest(label, addressVector, transmitQueue, receiveQueue, more);
  }
}
