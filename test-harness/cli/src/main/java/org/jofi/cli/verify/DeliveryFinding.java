package org.jofi.cli.verify;

import java.util.Objects;

/**
 * What became of one message.
 *
 * @param fault what, or {@link DeliveryFault#NONE}
 * @param arrived whether every byte was in its place after send and flush, as the transport has it
 * @param detail where and how much, in words
 */
public record DeliveryFinding(DeliveryFault fault, boolean arrived, String detail) {
  public DeliveryFinding {
    Objects.requireNonNull(fault);
    Objects.requireNonNull(detail);
  }
}
