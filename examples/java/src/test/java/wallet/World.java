package wallet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A world of the mock that no other test sees. It is checked when it is closed. */
class World implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static String server = System.getenv("CROSSCHAIN_MOCK_URL");

    /** The base address of both generations. */
    final String url;

    World() throws Exception {
        url = server() + "/w/java-" + UUID.randomUUID();
    }

    /** Returns the address of a mock that runs already, or of one that ends with the tests. */
    private static synchronized String server() throws Exception {
        if (server != null) return server;
        var ready = Files.createTempDirectory("mock").resolve("ready.json");
        var command = new ProcessBuilder(
            "crosschain-mock", "serve", "--port", "0", "--clock", "frozen", "--ready-file", ready.toString());
        var process = command.inheritIO().redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        while (!Files.exists(ready)) {
            if (process.waitFor(20, TimeUnit.MILLISECONDS)) throw new IllegalStateException("crosschain-mock ended");
        }
        server = JSON.readTree(ready.toFile()).get("url").asText();
        return server;
    }

    /** Returns the time of the world, in milliseconds. */
    long now() {
        return control("GET", "/clock", null).get("ms").asLong();
    }

    /** Moves the clock by a duration such as "5m". */
    void advance(String duration) {
        control("POST", "/clock", Map.of("advance", duration));
    }

    /** Puts a chain out of service. */
    void suspend(String chain, String mode, String lasting) {
        control("POST", "/outages", Map.of("chain", chain, "mode", mode, "for", lasting));
    }

    /** Disturbs the answers of an operation. */
    void fail(Map<String, Object> fault) {
        control("POST", "/faults", fault);
    }

    /** Announces a refusal that the test causes on purpose. */
    void expect(String refusal) {
        control("POST", "/expect", Map.of("refusal", refusal));
    }

    /** Returns how many orders this world has taken. */
    int orders() {
        return control("GET", "/orders", null).get("orders").size();
    }

    /**
     * Fails for refusals that were not expected, for faults and outages that met no request, and for money that the
     * audit misses.
     */
    @Override
    public void close() {
        List<String> lines = new ArrayList<>();
        control("GET", "/check?audit=true", null).get("told").forEach(text -> lines.add(text.asText()));
        if (!lines.isEmpty()) throw new AssertionError(String.join("\n", lines));
    }

    private JsonNode control(String method, String path, Object body) {
        try {
            var sent = body == null ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body));
            var request = HttpRequest.newBuilder(URI.create(url + "/__mock" + path)).method(method, sent).build();
            var answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) throw new AssertionError(method + " " + path + ": " + answer.body());
            return JSON.readTree(answer.body());
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
