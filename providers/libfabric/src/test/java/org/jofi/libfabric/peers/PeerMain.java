package org.jofi.libfabric.peers;

/** One of the two processes: {@code PROVIDER SCENARIO first|second}. */
final class PeerMain {
  /** Everything went as it should. */
  static final int OK = 0;

  /** The provider cannot do it; what, is on the last line. */
  static final int LACK = 77;

  private PeerMain() {}

  public static void main(String[] arguments) {
    int code = OK;
    try (Peer peer = new Peer(arguments[0], arguments[2].equals("first"), new Lines())) {
      Scenario.valueOf(arguments[1]).run(peer);
    } catch (Lack lack) {
      System.out.println(TwoProcesses.LACK_MARK + lack.getMessage());
      code = LACK;
    } catch (AssertionError | RuntimeException failure) {
      failure.printStackTrace(System.out);
      code = 1;
    }
    // Without waiting for anything that a provider may have left running.
    System.out.flush();
    Runtime.getRuntime().halt(code);
  }
}
