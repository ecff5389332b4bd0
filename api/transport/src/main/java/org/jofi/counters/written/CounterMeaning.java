package org.jofi.counters.written;

import java.util.Locale;
import org.jofi.transport.FailureCause;

/** What counters mean, in words for those who read them. */
final class CounterMeaning {
  private CounterMeaning() {}

  /** What requests are counted by that failed so. */
  static String name(FailureCause cause) {
    return "failed." + cause.name().toLowerCase(Locale.ROOT).replace('_', '.');
  }

  private static String failed(FailureCause cause) {
    return "requests that failed so: " + cause.words();
  }

  static String of(CounterType type) {
    return switch (type) {
      case HOUSEKEEPING_ROUNDS ->
          "rounds of the thread that answers peers, ten each second; it also writes the"
              + " heartbeat";
      case HOUSEKEEPING_LONGEST ->
          "the longest such round so far: long ones mean that a thread stayed in a"
              + " provider, or that this process got no processor";
      case ERRORS_UNRECORDED ->
          "failures that are counted, but not among the distinct errors, for which the file"
              + " has no more room";
      case MESSAGES_SENT ->
          "messages that were sent to the end, each receive of a group counting as one";
      case MESSAGES_RECEIVED -> "messages that arrived whole, likewise";
      case BYTES_SENT -> "what was in the messages sent";
      case BYTES_RECEIVED -> "what was in the messages received";
      case BYTES_STAGED ->
          "bytes copied between GPU memory and blocks in host memory, in either direction,"
              + " where no NIC takes the GPU's memory";
      case INLINE_WRITES -> "calls of iwriteInline that were posted";
      case FLUSHES -> "calls of iflush that read";
      case QUEUE_FULL ->
          "calls that were answered TRY_AGAIN, since too many requests of the communicator"
              + " are in flight, or no block or copy is free";
      case ARRIVALS_DROPPED ->
          "control messages and immediate data that were malformed, or belonged to no"
              + " connection: stragglers of connections that ended, or something foreign";
      case RECEIVES_FAILED ->
          "receives of control messages that a provider refused or failed; they are posted"
              + " again";
      case LOOKS ->
          "how often bounds were checked and the gauges of the endpoint written, some 20"
              + " times each second: if it stands still, nobody polls the endpoint";
      case CONNECTIONS_MADE -> "ends of connections that were made, connecting or accepting";
      case CONNECTIONS_REFUSED -> "requests of peers that this side refused";
      case CONNECTIONS_FAILED -> "attempts of this side to connect that failed, or were given up";
      case CONNECTIONS_LOST ->
          "ends of connections that were given up because the peer was silent, or nothing"
              + " moved";
      case CONNECTIONS_CONNECTING -> "attempts to connect that are under way";
      case CONNECTIONS_OPEN -> "ends of connections that work";
      case CONNECTIONS_BROKEN ->
          "ends of connections that failed, or whose peer closed, and that their owner did"
              + " not close";
      case CONNECTIONS_CLOSING ->
          "ends of connections that their owner closed, and that wait for the peer or a NIC";
      case PEERS -> "endpoints of other processes, or of this one, to which connections lead";
      case REQUESTS_IN_FLIGHT -> "sends, receives, writes, reads and flushes that are not over";
      case SENDS_WAITING ->
          "sends among them that wait for the peer's receive: if this stays, the peer does"
              + " not receive, or with another tag";
      case THREAD ->
          "1 while the endpoint's progress thread polls it, 0 while it rests, or if there"
              + " is none";
      case FAILED_OTHERWISE -> "requests that failed for another reason";
      case STRIPES_WRITTEN ->
          "stripes of messages, and writes, that the NIC's provider took; repeated ones" + " again";
      case BYTES_WRITTEN -> "what was in them";
      case STRIPES_READ ->
          "reads of peers' memory, and those of flushes, that the NIC's provider took";
      case BYTES_READ -> "what is read by them";
      case IMMEDIATES_ARRIVED ->
          "immediate data that arrived through the NIC: usually one for each stripe of a" + " peer";
      case CONTROL_OPERATIONS ->
          "packets of short messages, control messages and announcements of receives that"
              + " the NIC's provider took";
      case CONTROL_BYTES -> "what was in them, with headers";
      case PROVIDER_AGAIN ->
          "operations to which the provider answered FI_EAGAIN: its queue to the peer is"
              + " full; they are posted again";
      case STRIPES_REPEATED ->
          "stripes that this rail took after they had failed, or were not answered, over"
              + " this or another one";
      case COMPLETIONS_ORPHANED -> "completions that belonged to no operation of this side";
      case RAIL_STATE ->
          "0: it is used; 1: its endpoint closes, or another one is opened; 2: it is used"
              + " no more";
      case RAIL_PEERS_WITHOUT ->
          "peers to which the rail is not used now, since it failed or was silent, or one"
              + " of the sides closed it";
      case RAIL_OPERATIONS_OUT -> "operations that are with the provider, data and control";
      case CACHE_HITS ->
          "uses of memory that was registered already; what is open counts once each 64"
              + " hits, or when it closes";
      case CACHE_MISSES -> "uses that needed a registration, failed ones included";
      case CACHE_EVICTIONS -> "idle registrations that were closed to make room";
      case CACHE_CLOSES -> "registrations that were closed, for any reason";
      case CACHE_CLOSE_FAILURES -> "how often a provider refused to close one";
      case CACHE_OPEN -> "registrations that are open, in use or kept";
      case CACHE_PINNED -> "bytes of memory in them; memory in two of them counts twice";
      case CACHE_REGISTERING -> "time that was spent in providers for registering";
      case FAILED_PEER_LOST -> failed(FailureCause.PEER_LOST);
      case FAILED_TIMED_OUT -> failed(FailureCause.TIMED_OUT);
      case FAILED_ABORTED -> failed(FailureCause.ABORTED);
      case FAILED_PEER_ABORTED -> failed(FailureCause.PEER_ABORTED);
      case FAILED_CLOSED -> failed(FailureCause.CLOSED);
      case FAILED_PEER_CLOSED -> failed(FailureCause.PEER_CLOSED);
      case FAILED_PROTOCOL_VIOLATION -> failed(FailureCause.PROTOCOL_VIOLATION);
      case FAILED_FABRIC -> failed(FailureCause.FABRIC);
      case FAILED_INCOMPATIBLE -> failed(FailureCause.INCOMPATIBLE);
      case FAILED_EXHAUSTED -> failed(FailureCause.EXHAUSTED);
      case FAILED_TRUNCATED -> failed(FailureCause.TRUNCATED);
    };
  }
}
