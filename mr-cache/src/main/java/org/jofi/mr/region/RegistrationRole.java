package org.jofi.mr.region;

/** What a registration is for, as shown in error messages and events. */
public enum RegistrationRole {
  DATA("data buffer"),
  CONTROL("control mailbox"),
  LOCAL("local pool");

  private final String text;

  RegistrationRole(String text) {
    this.text = text;
  }

  @Override
  public String toString() {
    return text;
  }
}
