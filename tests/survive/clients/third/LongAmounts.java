import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A treasury that keeps amounts of smallest units in a long, which 18 decimals overflow. */
public class LongAmounts {
    static final String BASE = System.getenv("CROSSCHAIN_MOCK_BASE_URL_V2") + "/v1/";
    static final String ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
    static final String CUSTOMER = "0x42a6685ef29886Cbcb595Aa903f00dea0d1787d8";
    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static String ask(String path, String body) throws Exception {
        for (int pause = 1; ; pause *= 3) {
            try {
                var request = HttpRequest.newBuilder(URI.create(BASE + path)).timeout(Duration.ofSeconds(30))
                    .header("Content-Type", "application/json").header("EvmAddress", ME).header("Signature", "00");
                var built = body == null ? request.build() : request.POST(HttpRequest.BodyPublishers.ofString(body)).build();
                var answer = HTTP.send(built, BodyHandlers.ofString());
                if (answer.statusCode() != 200 || !answer.body().contains("\"code\"")) {
                    throw new IOException("HTTP " + answer.statusCode());
                }
                if (!answer.body().matches("(?s).*\"code\"\\s*:\\s*0\\b.*")) {
                    throw new IllegalStateException("refused: " + answer.body());
                }
                return answer.body();
            } catch (IOException problem) {
                if (pause > 200) throw problem;
                Thread.sleep(pause * 1000L);
            }
        }
    }

    static String member(String text, String name) throws IOException {
        Matcher value = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(text);
        if (!value.find()) throw new IOException("no " + name);
        return value.group(1);
    }

    static String hash(String text) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        return "0x" + HexFormat.of().formatHex(digest);
    }

    static String order(String tx, String amount, String receiver) {
        String certificate = String.format("{\"fromAmount\":\"%s\",\"fromIndex\":\"5\",\"fromChain\":\"BNB\","
            + "\"fromAddr\":\"%s\",\"certHash\":\"%s\",\"fromPublicKey\":\"\",\"signature\":\"123456\"}", amount, ME, tx);
        String hex = HexFormat.of().formatHex(certificate.getBytes(StandardCharsets.UTF_8));
        return String.format("{\"channel\":\"demo\",\"execStrategy\":\"\",\"extra\":\"\",\"orderType\":\"1\","
            + "\"slippage\":\"0\",\"sourceCerts\":\"%s\",\"timeout\":\"0\",\"toAddr\":\"%s\",\"toChain\":\"ARB\","
            + "\"toIndex\":\"5\",\"triggerPrice\":\"0\"}", hex, receiver);
    }

    static void settle(String receiver, long whole, int decimals) throws Exception {
        long units = whole;
        for (int digit = 0; digit < decimals; digit++) units *= 10;
        String amount = Long.toString(units);
        ask("getBridgeQuote?amount=" + amount + "&symbol=USDT&fromChain=BNB&toChain=ARB", null);
        String tx = hash("settlement " + receiver + " " + amount);
        String id = member(ask("submitOrder", order(tx, amount, receiver)), "id");
        for (;;) {
            String status = member(ask("checkOrder?id=" + id, null), "status");
            if (status.equals("Succeeded")) return;
            if (status.equals("Failed") || status.equals("Dropped") || status.equals("Refunded")) {
                System.err.println(id + " of " + tx + ": " + status);
                System.exit(1);
            }
            Thread.sleep(5_000);
        }
    }

    static int decimals() throws Exception {
        String list = ask("getAssetsByChain?chain=BNB", null);
        for (String item : list.split("\\{")) {
            Matcher value = Pattern.compile("\"decimals\"\\s*:\\s*(\\d+)").matcher(item);
            if (item.matches("(?s).*\"symbol\"\\s*:\\s*\"USDT\".*") && value.find()) return Integer.parseInt(value.group(1));
        }
        throw new IllegalStateException("no USDT on BNB Chain today");
    }

    public static void main(String[] words) throws Exception {
        settle(CUSTOMER, 25, decimals());
    }
}
