package org.jofi.nccl;

/** Takes messages. They go to NCCL's logger, which NCCL_DEBUG controls. Any thread. */
interface PluginLog {

  /** Logs what the user has to know. */
  void warn(String message);

  /** Logs what helps to understand a run. */
  void info(String message);
}
