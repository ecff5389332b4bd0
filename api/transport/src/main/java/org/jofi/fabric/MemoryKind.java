package org.jofi.fabric;

/** Where memory lives: the hmem interfaces of fi_mr(3). */
public enum MemoryKind {
  /** This process's memory. */
  HOST,
  /** Memory of an NVIDIA GPU. */
  CUDA,
  /** Memory of an AMD GPU. */
  ROCM,
  /** Memory of an AWS Neuron device. */
  NEURON
}
