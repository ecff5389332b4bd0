package org.jofi.fabric;

/**
 * Orders that a provider keeps between operations to one peer: fi_endpoint(3), "message ordering".
 * {@code WAR} reads "write after read": a write stays behind an earlier read.
 */
public enum MessageOrder {
  RAR,
  RAW,
  RAS,
  WAR,
  WAW,
  WAS,
  SAR,
  SAW,
  SAS,
  RMA_RAR,
  RMA_RAW,
  RMA_WAR,
  RMA_WAW
}
