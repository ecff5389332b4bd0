package org.jofi.fabric;

/**
 * Orders that a provider keeps between operations to one peer: fi_endpoint(3), "message ordering".
 * {@code WAR} means "write after read": a write does not overtake an earlier read.
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
