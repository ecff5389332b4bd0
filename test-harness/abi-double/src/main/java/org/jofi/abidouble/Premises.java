package org.jofi.abidouble;

/** What all objects of one double share. */
record Premises(
    DoubleSettings settings,
    Ledger ledger,
    Tables tables,
    Negotiation negotiation,
    Board board,
    Descriptors descriptors,
    InFlight inFlight) {

  static Premises of(DoubleSettings settings) {
    Ledger ledger = new Ledger();
    return new Premises(
        settings,
        ledger,
        new Tables(new Upcalls(ledger)),
        new Negotiation(settings),
        Board.open(settings.board()),
        new Descriptors(ledger),
        new InFlight(ledger));
  }
}
