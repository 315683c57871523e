package wallet;

import java.math.BigInteger;

/** A payment that was broadcast, in smallest units (v1: whole tokens). It is paid once, and for good. */
public record Deposit(String chain, String token, BigInteger amount, String hash) {}
