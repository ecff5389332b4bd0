package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.fi_cq_err_entry;
import org.jofi.libfabric.bindings.fi_ops_cq;
import org.jofi.libfabric.bindings.fid_cq;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors of the efa provider say whether the peer is gone, in old libraries as in new ones. */
@Timeout(60)
class EfaStatusTest {

  @ParameterizedTest
  @CsvSource({"8, 103", "9, 107", "13, 103", "14, 107", "15, 113"})
  void aPeerThatIsGoneIsToldAsNewLibrariesTellIt(int status, int errno) {
    assertEquals(errno, EfaStatus.errno(FabricErrno.EIO, status));
  }

  @ParameterizedTest
  @CsvSource({"5, 1", "125, 1", "5, 2", "22, 2"})
  void aQueuePairThatFailedIsShutDown(int errno, int status) {
    assertEquals(FabricErrno.ESHUTDOWN, EfaStatus.errno(errno, status));
  }

  /** A bad key, and the provider's own numbers. */
  @Test
  void otherFaultsStayWhatTheyWere() {
    for (int status : List.of(0, 5, 6, 7, 10, 11, 12, 16, 4111, -1)) {
      assertEquals(FabricErrno.EIO, EfaStatus.errno(FabricErrno.EIO, status));
    }
  }

  /** What the library knows better. */
  @Test
  void otherErrorNumbersStay() {
    assertEquals(FabricErrno.ECANCELED, EfaStatus.errno(FabricErrno.ECANCELED, 13));
    assertEquals(FabricErrno.EHOSTUNREACH, EfaStatus.errno(FabricErrno.EHOSTUNREACH, 15));
  }

  /** The error number that a queue of that provider tells, if it reads FI_EIO with status 13. */
  private static int told(String provider) {
    try (Loopback loopback = Loopback.named(provider, "tcp;ofi_rxm");
        Arena arena = Arena.ofConfined()) {
      LibfabricCompletionQueue queue = (LibfabricCompletionQueue) loopback.queue;
      MemorySegment fid = queue.nativeObject();
      MemorySegment real = fid_cq.ops(fid);
      MemorySegment table = arena.allocate(fi_ops_cq.layout());
      fi_ops_cq.readerr(
          table,
          fi_ops_cq.readerr.allocate(
              (_, entry, _) -> {
                fi_cq_err_entry.err(InfoReader.struct(entry), FabricErrno.EIO);
                fi_cq_err_entry.prov_errno(InfoReader.struct(entry), 13);
                return 1;
              },
              arena));
      QueueError error = new QueueError(queue, arena);
      fid_cq.ops(fid, table);
      try {
        assertEquals(1, error.fetch());
      } finally {
        fid_cq.ops(fid, real);
      }
      assertEquals(13, error.providerErrno());
      return error.errno();
    }
  }

  @Test
  void onlyEfaMeansItByThat() {
    assertEquals(FabricErrno.ECONNABORTED, told("efa"));
    assertEquals(FabricErrno.ECONNABORTED, told("efa-direct"));
    assertEquals(FabricErrno.EIO, told("tcp;ofi_rxm"));
  }
}
