package org.jofi.cli.verify;

import java.util.Objects;

/**
 * The result of the check of one message.
 *
 * @param fault the fault, or {@link DeliveryFault#NONE}
 * @param arrived whether every byte was in its place after the send and the transport's flush
 * @param detail a text that says where and how many
 */
public record DeliveryFinding(DeliveryFault fault, boolean arrived, String detail) {
  public DeliveryFinding {
    Objects.requireNonNull(fault);
    Objects.requireNonNull(detail);
  }
}
