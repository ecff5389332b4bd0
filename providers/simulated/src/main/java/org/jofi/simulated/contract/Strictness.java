package org.jofi.simulated.contract;

/** What happens to a program that breaks a contract. Violations are counted in both cases. */
public enum Strictness {
  /** The call throws {@link ContractViolationException}. */
  THROW,
  /** The call does what the real provider does: an errno, a {@code FabricException}, an error. */
  ERRNO
}
