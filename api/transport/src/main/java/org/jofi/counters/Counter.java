package org.jofi.counters;

import java.util.Locale;
import org.jofi.counters.written.CounterType;

/**
 * A counter as it was when it was read. Immutable.
 *
 * @param typeId which kind of counter; ids never change their meaning
 * @param name the same in words, such as {@code messages.sent}
 * @param isTotal whether it only grows; else it tells what is now, and may become less
 * @param unit what is counted, such as {@code bytes}; empty for a type of a later version of jofi
 * @param device the name of its device; empty if it is of the transport
 * @param deviceNumber the number of its device; -1 if it is of the transport
 * @param endpoint the number of the device's endpoint; of a registration cache, of the first
 *     endpoint that uses it; -1 if it is of the transport
 * @param rail the number of the rail; -1 if it is not of a rail
 * @param nic the rail's NIC; empty if it is not of a rail
 * @param value its value
 */
public record Counter(
    int typeId,
    String name,
    boolean isTotal,
    String unit,
    String device,
    int deviceNumber,
    int endpoint,
    int rail,
    String nic,
    long value) {
  /** {@return what it means, in words; empty for a type of a later version of jofi} */
  public String meaning() {
    return CounterType.of(typeId).map(CounterType::meaning).orElse("");
  }

  /** {@return the names of its place and its value, for people} */
  @Override
  public String toString() {
    String place =
        device.isEmpty()
            ? ""
            : rail < 0
                ? String.format(Locale.ROOT, " of %s, endpoint %d", device, endpoint)
                : String.format(
                    Locale.ROOT, " of %s, endpoint %d, rail %d (%s)", device, endpoint, rail, nic);
    return name + place + ": " + value;
  }
}
