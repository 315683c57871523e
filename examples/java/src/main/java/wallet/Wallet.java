package wallet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import mock.v1.AcceptedSupportedChainList;
import mock.v1.GetCrossChainQuoteRequest;
import mock.v1.SubmitCrossChainRequest;
import mock.v1.SupportedChain;
import mock.v2.AcceptedBridgeQuote;
import mock.v2.AcceptedChainList;
import mock.v2.AcceptedOrderStatus;
import mock.v2.AcceptedSubmittedOrder;
import mock.v2.Chain;
import mock.v2.SubmitOrderRequest;
import mock.v2.client.ApiException;

/** Quotes, submits and watches transfers, through both generations of the interface. */
public class Wallet {
    private static final String ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
    private static final int ATTEMPTS = 3;

    private final mock.v1.client.ApiClient v1 = new mock.v1.client.ApiClient();
    private final mock.v2.client.ApiClient v2 = new mock.v2.client.ApiClient();
    private final LongSupplier now;

    /** v1 requests carry the time that `now` tells, in milliseconds. */
    public Wallet(String baseUrl, LongSupplier now) {
        v1.updateBaseUri(baseUrl);
        v2.updateBaseUri(baseUrl);
        this.now = now;
    }

    /** Returns the chains that can be sent to now. */
    public List<String> targets() throws ApiException, Refused {
        var answer = new mock.v2.api.ListsApi(v2).getChain().getActualInstance();
        return accepted(answer, AcceptedChainList.class).getData().getList().stream().map(Chain::getNickName).toList();
    }

    /** Returns the smallest units that arrive, after both fees. */
    public BigInteger receives(BigInteger amount, String symbol, String from, String to) throws ApiException, Refused {
        var answer = new mock.v2.api.QuotesApi(v2).getBridgeQuote(amount.toString(), symbol, from, to);
        var quote = accepted(answer.getActualInstance(), AcceptedBridgeQuote.class).getData();
        return new BigInteger(quote.getOutAmount())
            .subtract(new BigInteger(quote.getServiceFee()))
            .subtract(new BigInteger(quote.getGasFee()));
    }

    /**
     * Tells the service of a deposit and returns the order's id. Where the answer is lost, the same deposit is
     * submitted again: that makes one order, and a second deposit would pay twice.
     */
    public String submit(Deposit deposit, String index, String to) throws ApiException, Refused {
        var body = new SubmitOrderRequest()
            .channel("example").execStrategy("").extra("").orderType(SubmitOrderRequest.OrderTypeEnum.fromValue("1")).slippage("0").timeout("0").triggerPrice("0")
            .sourceCerts(certificate(deposit, index)).toAddr(ADDRESS).toChain(to).toIndex(index);
        for (int left = ATTEMPTS; ; left--) {
            try {
                var answer = new mock.v2.api.OrdersApi(v2).submitOrder(ADDRESS, "00", body);
                return accepted(answer.getActualInstance(), AcceptedSubmittedOrder.class).getData().getId();
            } catch (ApiException lost) {
                if (left == 1) throw lost;
            }
        }
    }

    /** Returns the status of an order. */
    public String status(String id) throws ApiException, Refused {
        var answer = new mock.v2.api.OrdersApi(v2).checkOrder(id).getActualInstance();
        return accepted(answer, AcceptedOrderStatus.class).getData().getStatus().getValue();
    }

    /** Returns the chains that the first generation can be used with now. */
    public List<String> targetsV1() throws mock.v1.client.ApiException, Refused {
        var answer = new mock.v1.api.ListsApi(v1).getSupportChains().getActualInstance();
        return accepted(answer, AcceptedSupportedChainList.class).getData().getChains().stream()
            .filter(SupportedChain::getIsActive).map(SupportedChain::getName).toList();
    }

    /** Returns the tokens that arrive for a deposit of the first generation. */
    public double receivesV1(Deposit deposit, String to) throws mock.v1.client.ApiException, Refused {
        var body = new GetCrossChainQuoteRequest()
            .amount(deposit.amount().doubleValue()).fromChain(deposit.chain()).toChain(to).token(deposit.token()).feeLevel(0L);
        var answer = new mock.v1.api.QuotesApi(v1).getCrossChainQuote("demo", 15000L, now.getAsLong(), "00", body);
        return accepted(answer.getActualInstance(), mock.v1.AcceptedCrossChainQuote.class).getData().getCrossChain().getAmountOut();
    }

    /** Tells the first generation of a deposit, and returns the status that the order has then. */
    public long submitV1(Deposit deposit, String to) throws mock.v1.client.ApiException, Refused {
        var body = new SubmitCrossChainRequest()
            .fromAmount(deposit.amount().doubleValue()).fromChain(deposit.chain()).fromToken(deposit.token()).feeLevel(0L)
            .certHash(deposit.hash()).evmAddres(ADDRESS).fromAddress(new BigInteger(ADDRESS.substring(2), 16)).toChain(to);
        var answer = new mock.v1.api.OrdersApi(v1).submitCrossChain("demo", 15000L, now.getAsLong(), "00", body);
        return accepted(answer.getActualInstance(), mock.v1.AcceptedSubmittedCrossChain.class).getData().getStatus().getValue();
    }

    /** Returns the status of the first generation's order of a deposit. */
    public long statusV1(Deposit deposit) throws mock.v1.client.ApiException, Refused {
        var answer = new mock.v1.api.OrdersApi(v1).getOrderDetailByHashAndEvmAddress(
            "demo", 15000L, now.getAsLong(), "00", deposit.chain(), deposit.hash(), ADDRESS);
        return accepted(answer.getActualInstance(), mock.v1.AcceptedCrossChainOrder.class).getData().getOrder().getStatus().getValue();
    }

    /** Returns an answer that is a success; an answer is that or a refusal. */
    private static <T> T accepted(Object answer, Class<T> type) throws Refused {
        if (answer instanceof mock.v2.Refusal refusal) throw new Refused(refusal.getCode(), refusal.getMsg());
        if (answer instanceof mock.v1.Refusal refusal) throw new Refused(refusal.getCode(), refusal.getMsg());
        return type.cast(answer);
    }

    private static String certificate(Deposit deposit, String index) {
        var certificate = Map.of(
            "fromAmount", deposit.amount().toString(), "fromIndex", index, "fromChain", deposit.chain(),
            "fromAddr", ADDRESS, "certHash", deposit.hash(), "fromPublicKey", "", "signature", "");
        try {
            var text = new ObjectMapper().writeValueAsString(certificate);
            return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
