// Package wallet moves tokens between chains, through both generations of the interface.
package wallet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"wallet/v1"
	"wallet/v2"
)

const (
	address  = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
	attempts = 3
)

// Refused says that the service said no: HTTP 200, and a code that is not 0.
type Refused struct {
	Code int64
	Msg  string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Msg) }

// Deposit is a payment that was broadcast: it is paid once, and for good.
type Deposit struct {
	Chain, Token string
	Amount       *big.Int // smallest units; v1 has whole tokens
	Hash         string
}

// Wallet quotes, submits and watches.
type Wallet struct {
	v1  *v1.APIClient
	v2  *v2.APIClient
	now func() time.Time
}

// New returns a wallet of a service; v1 requests carry the time that now tells.
func New(baseURL string, now func() time.Time) *Wallet {
	first, second := v1.NewConfiguration(), v2.NewConfiguration()
	first.Servers = v1.ServerConfigurations{{URL: baseURL}}
	second.Servers = v2.ServerConfigurations{{URL: baseURL}}
	return &Wallet{v1.NewAPIClient(first), v2.NewAPIClient(second), now}
}

// Targets returns the chains that can be sent to now.
func (w *Wallet) Targets(ctx context.Context) (map[string]bool, error) {
	answer, _, err := w.v2.ListsAPI.GetChain(ctx).Execute()
	if err != nil {
		return nil, err
	}
	if answer.Refusal != nil {
		return nil, &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	targets := map[string]bool{}
	for _, chain := range answer.AcceptedChainList.Data.List {
		targets[chain.NickName] = true
	}
	return targets, nil
}

// Receives returns the smallest units that arrive, after both fees.
func (w *Wallet) Receives(ctx context.Context, amount *big.Int, symbol, from, to string) (*big.Int, error) {
	request := w.v2.QuotesAPI.GetBridgeQuote(ctx).Amount(amount.String()).Symbol(symbol).FromChain(from).ToChain(to)
	answer, _, err := request.Execute()
	if err != nil {
		return nil, err
	}
	if answer.Refusal != nil {
		return nil, &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	quote := answer.AcceptedBridgeQuote.Data
	left := units(quote.OutAmount)
	left.Sub(left, units(quote.ServiceFee))
	return left.Sub(left, units(quote.GasFee)), nil
}

// Submit tells the service of a deposit and returns the order's id. Where the answer is lost, the
// same deposit is submitted again: that makes one order, and a second deposit would pay twice.
func (w *Wallet) Submit(ctx context.Context, deposit Deposit, index, to string) (string, error) {
	certificate, err := json.Marshal(map[string]string{
		"fromAmount": deposit.Amount.String(), "fromIndex": index, "fromChain": deposit.Chain,
		"fromAddr": address, "certHash": deposit.Hash, "fromPublicKey": "", "signature": "",
	})
	if err != nil {
		return "", err
	}
	body := v2.SubmitOrderRequest{
		Channel: "example", OrderType: "1", Slippage: "0", Timeout: "0", TriggerPrice: "0",
		SourceCerts: hex.EncodeToString(certificate), ToAddr: address, ToChain: &to, ToIndex: index,
	}
	var lost error
	for left := attempts; left > 0; left-- {
		request := w.v2.OrdersAPI.SubmitOrder(ctx).Evmaddress(address).Signature("00")
		answer, _, err := request.SubmitOrderRequest(body).Execute()
		if err != nil {
			lost = err
			continue
		}
		if answer.Refusal != nil {
			return "", &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
		}
		return answer.AcceptedSubmittedOrder.Data.Id, nil
	}
	return "", lost
}

// Status returns the status of an order.
func (w *Wallet) Status(ctx context.Context, id string) (string, error) {
	answer, _, err := w.v2.OrdersAPI.CheckOrder(ctx).Id(id).Execute()
	if err != nil {
		return "", err
	}
	if answer.Refusal != nil {
		return "", &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	return answer.AcceptedOrderStatus.Data.Status, nil
}

// TargetsV1 returns the chains that the first generation can be used with now.
func (w *Wallet) TargetsV1(ctx context.Context) (map[string]bool, error) {
	answer, _, err := w.v1.ListsAPI.GetSupportChains(ctx).Execute()
	if err != nil {
		return nil, err
	}
	if answer.Refusal != nil {
		return nil, &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	targets := map[string]bool{}
	for _, chain := range answer.AcceptedSupportedChainList.Data.Chains {
		targets[chain.Name] = chain.IsActive
	}
	return targets, nil
}

// ReceivesV1 returns the tokens that arrive for a deposit of the first generation.
func (w *Wallet) ReceivesV1(ctx context.Context, deposit Deposit, to string) (float64, error) {
	amount, err := tokens(deposit)
	if err != nil {
		return 0, err
	}
	body := v1.GetCrossChainQuoteRequest{
		Amount: amount, FromChain: deposit.Chain, ToChain: to, Token: deposit.Token, FeeLevel: 0,
	}
	request := w.v1.QuotesAPI.GetCrossChainQuote(ctx).AppKey("demo").ExpireTime(15000)
	request = request.Timestamp(w.now().UnixMilli()).Signature("00").GetCrossChainQuoteRequest(body)
	answer, _, err := request.Execute()
	if err != nil {
		return 0, err
	}
	if answer.Refusal != nil {
		return 0, &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	return answer.AcceptedCrossChainQuote.Data.CrossChain.AmountOut, nil
}

// SubmitV1 tells the first generation of a deposit, and returns the status that the order has then.
func (w *Wallet) SubmitV1(ctx context.Context, deposit Deposit, to string) (int64, error) {
	number, _ := new(big.Int).SetString(address[2:], 16)
	amount, err := tokens(deposit)
	if err != nil {
		return 0, err
	}
	body := v1.SubmitCrossChainRequest{
		FromAmount: amount, FromChain: deposit.Chain, FromToken: deposit.Token, CertHash: deposit.Hash,
		EvmAddres: address, FromAddress: json.Number(number.String()), ToChain: to, FeeLevel: 0,
	}
	request := w.v1.OrdersAPI.SubmitCrossChain(ctx).AppKey("demo").ExpireTime(15000)
	request = request.Timestamp(w.now().UnixMilli()).Signature("00").SubmitCrossChainRequest(body)
	answer, _, err := request.Execute()
	if err != nil {
		return 0, err
	}
	if answer.Refusal != nil {
		return 0, &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	return answer.AcceptedSubmittedCrossChain.Data.Status, nil
}

// StatusV1 returns the status of the first generation's order of a deposit.
func (w *Wallet) StatusV1(ctx context.Context, deposit Deposit) (int64, error) {
	request := w.v1.OrdersAPI.GetOrderDetailByHashAndEvmAddress(ctx).AppKey("demo").ExpireTime(15000)
	request = request.Timestamp(w.now().UnixMilli()).Signature("00")
	answer, _, err := request.Chain(deposit.Chain).Hash(deposit.Hash).EvmAddress(address).Execute()
	if err != nil {
		return 0, err
	}
	if answer.Refusal != nil {
		return 0, &Refused{answer.Refusal.Code, answer.Refusal.GetMsg()}
	}
	return answer.AcceptedCrossChainOrder.Data.Order.Status, nil
}

// tokens returns the amount of a deposit of v1 as the JSON number that v1 takes.
func tokens(deposit Deposit) (float64, error) { return strconv.ParseFloat(deposit.Amount.String(), 64) }

func units(digits string) *big.Int {
	number, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return new(big.Int)
	}
	return number
}
