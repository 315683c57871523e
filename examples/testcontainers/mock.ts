// Starts the image for tests, with testcontainers of npm.
import { GenericContainer, Wait, type StartedTestContainer } from "testcontainers";

const port = 8765;
const token = "local-only";

/** Returns the container and the address of the server. The control API takes `Authorization: Bearer local-only`. */
export async function start(image = "crosschain-mock"): Promise<{ container: StartedTestContainer; url: string }> {
  const container = await new GenericContainer(image)
    .withEnvironment({ CROSSCHAIN_MOCK_TOKEN: token })
    .withCommand(["serve", "--host", "0.0.0.0", "--port", "8765", "--clock", "frozen"])
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forHttp("/__mock/ready", port).forStatusCode(200))
    .start();
  return { container, url: `http://${container.getHost()}:${container.getMappedPort(port)}` };
}
