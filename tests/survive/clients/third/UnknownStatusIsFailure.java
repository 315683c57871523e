import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A payout service whose statuses are an enum; what is not in it counts as a failure, and is paid again. */
public class UnknownStatusIsFailure {
    static final String BASE = System.getenv("CROSSCHAIN_MOCK_BASE_URL_V2") + "/v1/";
    static final String ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
    static final String CUSTOMER = "0x42a6685ef29886Cbcb595Aa903f00dea0d1787d8";
    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    enum Status { Unknown, Pending, WaitVerify, Verified, Succeeded, Failed, Dropped, Refunding, Refunded }

    static final Set<Status> FINAL = EnumSet.of(Status.Succeeded, Status.Failed, Status.Dropped, Status.Refunded);

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

    static String order(String tx, String amount) {
        String certificate = String.format("{\"fromAmount\":\"%s\",\"fromIndex\":\"5\",\"fromChain\":\"ARB\","
            + "\"fromAddr\":\"%s\",\"certHash\":\"%s\",\"fromPublicKey\":\"\",\"signature\":\"123456\"}", amount, ME, tx);
        String hex = HexFormat.of().formatHex(certificate.getBytes(StandardCharsets.UTF_8));
        return String.format("{\"channel\":\"demo\",\"execStrategy\":\"\",\"extra\":\"\",\"orderType\":\"1\","
            + "\"slippage\":\"0\",\"sourceCerts\":\"%s\",\"timeout\":\"0\",\"toAddr\":\"%s\",\"toChain\":\"BNB\","
            + "\"toIndex\":\"5\",\"triggerPrice\":\"0\"}", hex, CUSTOMER);
    }

    static Status standing(String id) throws Exception {
        try {
            return Status.valueOf(member(ask("checkOrder?id=" + id, null), "status"));
        } catch (IllegalArgumentException unknown) {
            return Status.Failed;
        }
    }

    static Status pay(String amount, int attempt) throws Exception {
        String tx = hash("payout " + amount + " " + attempt);
        String id = member(ask("submitOrder", order(tx, amount)), "id");
        for (;;) {
            Status status = standing(id);
            if (FINAL.contains(status)) return status;
            Thread.sleep(5_000);
        }
    }

    public static void main(String[] words) throws Exception {
        String amount = "83000000";
        ask("getBridgeQuote?amount=" + amount + "&symbol=USDT&fromChain=ARB&toChain=BNB", null);
        for (int attempt = 0; attempt < 3; attempt++) {
            Status status = pay(amount, attempt);
            if (status == Status.Succeeded) System.exit(0);
            if (status != Status.Failed) System.exit(1);
        }
        System.exit(1);
    }
}
