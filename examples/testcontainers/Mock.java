import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** Starts the image for tests, with org.testcontainers:testcontainers. */
public class Mock extends GenericContainer<Mock> {
    private static final int PORT = 8765;
    private static final String TOKEN = "local-only";

    public Mock() {
        super(DockerImageName.parse("crosschain-mock"));
        withEnv("CROSSCHAIN_MOCK_TOKEN", TOKEN);
        withCommand("serve", "--host", "0.0.0.0", "--port", "8765", "--clock", "frozen");
        withExposedPorts(PORT);
        waitingFor(Wait.forHttp("/__mock/ready").forPort(PORT).forStatusCode(200));
    }

    /** Returns the address of the server; its control API takes `Authorization: Bearer local-only`. */
    public String url() {
        return "http://" + getHost() + ":" + getMappedPort(PORT);
    }
}
