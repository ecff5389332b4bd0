package org.jofi.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.errors.DistinctErrorLog;
import org.agrona.concurrent.status.CountersReader;
import org.jofi.counters.written.CounterLayout;
import org.junit.jupiter.api.Test;

/** Files of counters can be read with Agrona's readers: their layout is that of its buffers. */
class AgronaLayoutTest {
  @Test
  void counters() {
    assertEquals(CountersReader.METADATA_LENGTH, CounterLayout.METADATA_BYTES);
    assertEquals(CountersReader.COUNTER_LENGTH, CounterLayout.VALUE_BYTES);
    assertEquals(CountersReader.TYPE_ID_OFFSET, CounterLayout.TYPE_AT);
    assertEquals(CountersReader.KEY_OFFSET, CounterLayout.KEY_AT);
    assertEquals(CountersReader.LABEL_OFFSET, CounterLayout.LABEL_AT);
    assertEquals(CountersReader.MAX_LABEL_LENGTH, CounterLayout.LABEL_BYTES);
    assertEquals(CountersReader.RECORD_ALLOCATED, CounterLayout.ALLOCATED);
  }

  @Test
  void errors() {
    assertEquals(DistinctErrorLog.LENGTH_OFFSET, CounterLayout.ERROR_LENGTH_AT);
    assertEquals(DistinctErrorLog.OBSERVATION_COUNT_OFFSET, CounterLayout.ERROR_COUNT_AT);
    assertEquals(DistinctErrorLog.LAST_OBSERVATION_TIMESTAMP_OFFSET, CounterLayout.ERROR_LAST_AT);
    assertEquals(DistinctErrorLog.FIRST_OBSERVATION_TIMESTAMP_OFFSET, CounterLayout.ERROR_FIRST_AT);
    assertEquals(DistinctErrorLog.ENCODED_ERROR_OFFSET, CounterLayout.ERROR_TEXT_AT);
    assertEquals(DistinctErrorLog.RECORD_ALIGNMENT, CounterLayout.ERROR_ALIGNMENT);
  }
}
