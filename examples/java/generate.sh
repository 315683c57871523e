#!/bin/sh
# Writes the types and clients of both generations beside the sources.
set -e
cd "$(dirname "$0")"
mkdir -p target
for version in v1 v2; do
    crosschain-mock openapi "$version" --flat --output "target/$version.json"
    openapi-generator-cli generate -c generator.yaml -i "target/$version.json" -o "target/$version" \
        --invoker-package "mock.$version.client" --api-package "mock.$version.api" --model-package "mock.$version"
    cp -R "target/$version/src/main/java/mock" src/main/java
done
