package org.jofi.fabric;

import java.util.Map;
import java.util.Objects;

/**
 * How to open an endpoint.
 *
 * @param label its name in error messages, such as {@code data rail 0}
 * @param addressVector the table of its peers
 * @param transmitQueue the queue for completions of sends, writes and reads
 * @param receiveQueue the queue for completions of receives and for arriving immediate data; may be
 *     the same queue
 * @param options options to set before it is enabled; opening fails if the provider lacks one of
 *     them
 */
public record EndpointRequest(
    String label,
    AddressVector addressVector,
    CompletionQueue transmitQueue,
    CompletionQueue receiveQueue,
    Map<EndpointOption, Long> options) {

  /** Copies the options. */
  public EndpointRequest {
    Objects.requireNonNull(label);
    Objects.requireNonNull(addressVector);
    Objects.requireNonNull(transmitQueue);
    Objects.requireNonNull(receiveQueue);
    options = Map.copyOf(options);
  }

  /**
   * {@return a request for an endpoint with one queue for everything and no options}
   *
   * @param label its name in error messages, such as {@code data rail 0}
   * @param addressVector the table of its peers
   * @param queue the queue for all completions and for arriving immediate data
   */
  public static EndpointRequest of(
      String label, AddressVector addressVector, CompletionQueue queue) {
    return new EndpointRequest(label, addressVector, queue, queue, Map.of());
  }

  /**
   * {@return this request, with an option set before enabling}
   *
   * @param option which one; if the request has it already, the new value replaces the old one
   * @param value its value; 0 or 1 for an option that is a boolean
   */
  public EndpointRequest withOption(EndpointOption option, long value) {
    Map<EndpointOption, Long> more = new java.util.EnumMap<>(EndpointOption.class);
    more.putAll(options);
    more.put(option, value);
    return new EndpointRequest(label, addressVector, transmitQueue, receiveQueue, more);
  }
}
