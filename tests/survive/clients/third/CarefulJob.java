import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A payout in Java: written down before it is made, ordered with one hash, and followed to its end. */
public class CarefulJob {
    static final String BASE = System.getenv("CROSSCHAIN_MOCK_BASE_URL_V2") + "/v1/";
    static final Path STATE = Path.of(System.getenv("CROSSCHAIN_MOCK_STATE"));
    static final String ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
    static final String CUSTOMER = "0x42a6685ef29886Cbcb595Aa903f00dea0d1787d8";
    static final Set<String> ENDS = Set.of("Succeeded", "Failed", "Dropped", "Refunded");
    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static class Refused extends Exception {
        Refused(String why) { super(why); }
    }

    static String ask(String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(BASE + path)).timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json").header("EvmAddress", ME).header("Signature", "00");
        if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(body));
        var answer = HTTP.send(request.build(), BodyHandlers.ofString());
        Matcher code = Pattern.compile("\"code\"\\s*:\\s*(-?\\d+)").matcher(answer.body());
        if (answer.statusCode() != 200 || !code.find()) throw new IOException("HTTP " + answer.statusCode());
        if (!code.group(1).equals("0")) throw new Refused(answer.body());
        return answer.body();
    }

    static String member(String text, String name) throws IOException {
        Matcher value = Pattern.compile("\"" + name + "\"\\s*:\\s*(?:\"([^\"]*)\"|(-?\\d+))").matcher(text);
        if (!value.find()) throw new IOException("no " + name);
        return value.group(1) != null ? value.group(1) : value.group(2);
    }

    static String patiently(Callable<String> work, boolean refusals, long limit) throws Exception {
        long waited = 0;
        for (long pause = 2; ; pause = Math.min(pause * 2, 600)) {
            try {
                return work.call();
            } catch (Refused | IOException | NumberFormatException problem) {
                if (waited > limit || problem instanceof Refused && !refusals) throw problem;
                System.err.println("again: " + problem);
            }
            Thread.sleep(pause * 1000);
            waited += pause;
        }
    }

    /** Return the item of a list that has these members, without what is nested in it. */
    static String item(String list, String name, String value) throws Refused {
        Matcher items = Pattern.compile("\\{[^{}]*\\}").matcher(list);
        while (items.find()) {
            String text = items.group();
            boolean off = text.matches("(?s).*\"(disabled|delisted|noSwap|disableBridge)\"\\s*:\\s*true.*");
            if (text.matches("(?s).*\"" + name + "\"\\s*:\\s*\"" + value + "\".*") && !off) return text;
        }
        throw new Refused(value + " is not offered");
    }

    static void keep(Properties job) throws IOException {
        var text = new StringWriter();
        job.store(text, null);
        Files.writeString(STATE.resolve("job.draft"), text.toString());
        Files.move(STATE.resolve("job.draft"), STATE.resolve("job"), StandardCopyOption.ATOMIC_MOVE);
    }

    static Properties plan() throws Exception {
        item(ask("getChain", null), "nickName", "ARB");
        item(ask("getChain", null), "nickName", "BNB");
        String here = item(ask("getAssetsByChain?chain=ARB", null), "symbol", "USDT");
        String there = item(ask("getAssetsByChain?chain=BNB", null), "symbol", "USDT");
        var amount = new BigDecimal("31.5").scaleByPowerOfTen(Integer.parseInt(member(here, "decimals"))).toBigIntegerExact();
        String quote = ask("getBridgeQuote?amount=" + amount + "&symbol=USDT&fromChain=ARB&toChain=BNB", null);
        var net = new BigInteger(member(quote, "outAmount")).subtract(new BigInteger(member(quote, "serviceFee")))
            .subtract(new BigInteger(member(quote, "gasFee")));
        if (net.compareTo(BigInteger.TEN.pow(Integer.parseInt(member(there, "decimals"))).multiply(BigInteger.valueOf(28))) < 0) {
            throw new Refused("the fees are too high");
        }
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(("java " + amount).getBytes(StandardCharsets.UTF_8));
        String tx = "0x" + HexFormat.of().formatHex(digest);
        String certificate = String.format("{\"fromAmount\":\"%s\",\"fromIndex\":\"%s\",\"fromChain\":\"ARB\","
            + "\"fromAddr\":\"%s\",\"certHash\":\"%s\",\"fromPublicKey\":\"\",\"signature\":\"123456\"}",
            amount, member(here, "index"), ME, tx);
        var job = new Properties();
        job.setProperty("tx", tx);
        job.setProperty("least", net.multiply(BigInteger.valueOf(98)).divide(BigInteger.valueOf(100)).toString());
        job.setProperty("body", String.format("{\"channel\":\"demo\",\"execStrategy\":\"\",\"extra\":\"\","
            + "\"orderType\":\"1\",\"slippage\":\"0\",\"sourceCerts\":\"%s\",\"timeout\":\"0\",\"toAddr\":\"%s\","
            + "\"toChain\":\"BNB\",\"toIndex\":\"%s\",\"triggerPrice\":\"0\"}",
            HexFormat.of().formatHex(certificate.getBytes(StandardCharsets.UTF_8)), CUSTOMER, member(there, "index")));
        return job;
    }

    static int run() throws Exception {
        var job = new Properties();
        if (Files.exists(STATE.resolve("job"))) {
            job.load(new StringReader(Files.readString(STATE.resolve("job"))));
        } else {
            try {
                job = plan();
            } catch (Refused | IOException problem) {
                System.err.println("nothing was paid: " + problem);
                return 2;
            }
            keep(job);
        }
        Properties payment = job;
        if (!payment.containsKey("id")) {
            payment.setProperty("id", patiently(() -> member(ask("submitOrder", payment.getProperty("body")), "id"), true, 86_400));
            keep(payment);
        }
        String status = "Unknown", out = "0";
        for (long waited = 0, pause = 5; !ENDS.contains(status) && waited < 86_400; waited += pause, pause = Math.min(pause * 2, 240)) {
            Thread.sleep(pause * 1000);
            String order = patiently(() -> {
                String answer = ask("checkOrder?id=" + payment.getProperty("id"), null);
                String arrived = member(answer, "amountOut");
                return member(answer, "status") + " " + new BigInteger(arrived.isEmpty() ? "0" : arrived);
            }, true, 86_400);
            status = order.substring(0, order.lastIndexOf(' '));
            out = order.substring(order.lastIndexOf(' ') + 1);
        }
        if (status.equals("Succeeded") && new BigInteger(out).compareTo(new BigInteger(payment.getProperty("least"))) >= 0) return 0;
        if (status.equals("Refunded")) return 5;
        if (!payment.containsKey("ticket")) {
            String complaint = String.format("{\"hash\":\"%s\",\"chain\":\"ARB\"}", payment.getProperty("tx"));
            payment.setProperty("ticket", patiently(() -> member(ask("submitTicket", complaint), "ticketId"), true, 86_400));
            keep(payment);
        }
        return 3;
    }

    public static void main(String[] words) throws Exception {
        var lock = FileChannel.open(STATE.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        System.exit(lock.tryLock() == null ? 75 : run());
    }
}
