package org.jofi.headers;

/** How the headers of a machine relate to those that the bindings were generated from. */
public enum HeaderAge {
  /** Fields and constants may be missing, at the end of structs. */
  OLDER("older than"),
  /** Everything has to be there and equal. */
  SAME("the same as"),
  /** Everything has to be there; structs may be longer. */
  NEWER("newer than");

  private final String phrase;

  HeaderAge(String phrase) {
    this.phrase = phrase;
  }

  /** The words that relate the headers to the bindings. */
  public String phrase() {
    return phrase;
  }

  /** Compares two versions of which the greater is the newer. */
  public static HeaderAge of(long headers, long bindings) {
    if (headers == bindings) {
      return SAME;
    }
    return headers < bindings ? OLDER : NEWER;
  }
}
