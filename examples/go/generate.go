package wallet

//go:generate crosschain-mock openapi v1 --flat --output v1.json
//go:generate crosschain-mock openapi v2 --flat --output v2.json
//go:generate openapi-generator-cli generate -c generator.yaml -i v1.json -o v1 --package-name v1
//go:generate openapi-generator-cli generate -c generator.yaml -i v2.json -o v2 --package-name v2
