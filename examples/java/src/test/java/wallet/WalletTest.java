package wallet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WalletTest {
    private static final BigInteger TEN = BigInteger.valueOf(10_000_000); // 10 USDT of 6 decimals
    private static final String USDT = "5";
    private static final Deposit DEPOSIT = new Deposit(
        "ARB", "USDT", TEN, "0x4190dc4627cb4e97292b6b718d718d3c3af93f14477346efc181ff549f69f794");

    @Test
    void aTransferArrives() throws Exception {
        try (var world = new World()) {
            var wallet = new Wallet(world.url, world::now);
            assertTrue(wallet.targets().containsAll(List.of("ARB", "BNB")));
            assertTrue(wallet.receives(TEN, "USDT", "ARB", "BNB").signum() > 0);
            var id = wallet.submit(DEPOSIT, USDT, "BNB");
            assertEquals("Unknown", wallet.status(id));

            world.advance("5m");

            assertEquals("Succeeded", wallet.status(id));
        }
    }

    @Test
    void anOrderOfTheFirstGenerationIsCompleted() throws Exception {
        try (var world = new World()) {
            var wallet = new Wallet(world.url, world::now);
            var paid = new Deposit("MATIC", "USDT", BigInteger.TEN,
                "0x999488c5cc95ad41000dfc2fd14b621e5be984d6f0094feb131d713241303eb0");
            assertTrue(wallet.targetsV1().containsAll(List.of("MATIC", "BSC")));
            assertTrue(wallet.receivesV1(paid, "BSC") > 0);
            assertEquals(1, wallet.submitV1(paid, "BSC"));

            world.advance("5m");

            assertEquals(2, wallet.statusV1(paid));
        }
    }

    @Test
    void aRefusalIsAnExceptionWithTheReason() throws Exception {
        try (var world = new World()) {
            world.expect("unknown-chain");
            var wallet = new Wallet(world.url, world::now);
            var refused = assertThrows(Refused.class, () -> wallet.receives(TEN, "USDT", "ARB", "FANTOM"));
            assertTrue(refused.code != 0);
            assertTrue(refused.getMessage().contains("FANTOM"));
        }
    }

    @Test
    void aSuspendedChainIsNotOffered() throws Exception {
        try (var world = new World()) {
            var wallet = new Wallet(world.url, world::now);
            world.suspend("BNB", "delisted", "9h");
            assertFalse(wallet.targets().contains("BNB"));

            world.advance("9h");

            assertTrue(wallet.targets().contains("BNB"));
        }
    }

    @Test
    void aLostAnswerDoesNotPayTwice() throws Exception {
        try (var world = new World()) {
            var wallet = new Wallet(world.url, world::now);
            assertTrue(wallet.targets().contains("BNB"));
            wallet.receives(TEN, "USDT", "ARB", "BNB");
            world.fail(Map.of("operation", "submitOrder", "kind", "http-status", "status", 504, "does", "done", "first", 1));
            var id = wallet.submit(DEPOSIT, USDT, "BNB");
            assertEquals("Unknown", wallet.status(id));
            assertEquals(1, world.orders());
        }
    }
}
