// Package mock starts the image for tests, with github.com/testcontainers/testcontainers-go.
package mock

import (
	"context"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	port  = "8765/tcp"
	token = "local-only"
)

// Start returns the container and the address of the server. The control API takes
// `Authorization: Bearer local-only`.
func Start(ctx context.Context) (testcontainers.Container, string, error) {
	container, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        "crosschain-mock",
			Env:          map[string]string{"CROSSCHAIN_MOCK_TOKEN": token},
			Cmd:          []string{"serve", "--host", "0.0.0.0", "--port", "8765", "--clock", "frozen"},
			ExposedPorts: []string{port},
			WaitingFor:   wait.ForHTTP("/__mock/ready").WithPort(port),
		},
		Started: true,
	})
	if err != nil {
		return nil, "", err
	}
	url, err := container.PortEndpoint(ctx, port, "http")
	return container, url, err
}
