package org.jofi.nccl;

/** Where messages go: NCCL's logger, which NCCL_DEBUG governs. Any thread. */
interface PluginLog {

  /** What the user has to know. */
  void warn(String message);

  /** What helps to understand a run. */
  void info(String message);
}
