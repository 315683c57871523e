package wallet

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
)

var (
	ctx     = context.Background()
	ten     = big.NewInt(10_000_000) // 10 USDT of 6 decimals
	deposit = Deposit{"ARB", "USDT", ten, "0x4190dc4627cb4e97292b6b718d718d3c3af93f14477346efc181ff549f69f794"}
)

const usdt = "5"

func TestATransferArrives(t *testing.T) {
	world := NewWorld(t)
	wallet := New(world.URL, world.Now)
	if targets, err := wallet.Targets(ctx); err != nil || !targets["ARB"] || !targets["BNB"] {
		t.Fatal(targets, err)
	}
	receives, err := wallet.Receives(ctx, ten, "USDT", "ARB", "BNB")
	must(err)
	if receives.Sign() <= 0 {
		t.Fatalf("a transfer of 10 USDT leaves %s", receives)
	}
	id, err := wallet.Submit(ctx, deposit, usdt, "BNB")
	must(err)
	if status, err := wallet.Status(ctx, id); err != nil || status != "Unknown" {
		t.Fatal(status, err)
	}

	world.Advance("5m")

	if status, err := wallet.Status(ctx, id); err != nil || status != "Succeeded" {
		t.Fatal(status, err)
	}
}

func TestAnOrderOfTheFirstGenerationIsCompleted(t *testing.T) {
	world := NewWorld(t)
	wallet := New(world.URL, world.Now)
	paid := Deposit{"MATIC", "USDT", big.NewInt(10), "0x999488c5cc95ad41000dfc2fd14b621e5be984d6f0094feb131d713241303eb0"}
	if targets, err := wallet.TargetsV1(ctx); err != nil || !targets["MATIC"] || !targets["BSC"] {
		t.Fatal(targets, err)
	}
	receives, err := wallet.ReceivesV1(ctx, paid, "BSC")
	must(err)
	if receives <= 0 || receives >= 10 {
		t.Fatalf("a transfer of 10 USDT leaves %v", receives)
	}
	if status, err := wallet.SubmitV1(ctx, paid, "BSC"); err != nil || status != 1 {
		t.Fatal(status, err)
	}

	world.Advance("5m")

	if status, err := wallet.StatusV1(ctx, paid); err != nil || status != 2 {
		t.Fatal(status, err)
	}
}

func TestARefusalIsAnErrorWithTheReason(t *testing.T) {
	world := NewWorld(t)
	world.Expect("unknown-chain")
	_, err := New(world.URL, world.Now).Receives(ctx, ten, "USDT", "ARB", "FANTOM")
	var refused *Refused
	if !errors.As(err, &refused) || refused.Code == 0 || !strings.Contains(refused.Msg, "FANTOM") {
		t.Fatal(err)
	}
}

func TestASuspendedChainIsNotOffered(t *testing.T) {
	world := NewWorld(t)
	wallet := New(world.URL, world.Now)
	world.Suspend("BNB", "delisted", "9h")
	if targets, err := wallet.Targets(ctx); err != nil || targets["BNB"] {
		t.Fatal(targets, err)
	}

	world.Advance("9h")

	if targets, err := wallet.Targets(ctx); err != nil || !targets["BNB"] {
		t.Fatal(targets, err)
	}
}

func TestALostAnswerDoesNotPayTwice(t *testing.T) {
	world := NewWorld(t)
	wallet := New(world.URL, world.Now)
	_, err := wallet.Targets(ctx)
	must(err)
	_, err = wallet.Receives(ctx, ten, "USDT", "ARB", "BNB")
	must(err)
	world.Fail(map[string]any{"operation": "submitOrder", "kind": "http-status", "status": 504, "does": "done", "first": 1})
	id, err := wallet.Submit(ctx, deposit, usdt, "BNB")
	must(err)
	if status, err := wallet.Status(ctx, id); err != nil || status != "Unknown" {
		t.Fatal(status, err)
	}
	if orders := world.Orders(); orders != 1 {
		t.Fatalf("%d orders of one deposit", orders)
	}
}
