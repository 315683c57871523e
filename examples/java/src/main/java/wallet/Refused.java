package wallet;

/** The service said no: HTTP 200, and a code that is not 0. */
public class Refused extends Exception {
    public final long code;

    public Refused(long code, String message) {
        super(message);
        this.code = code;
    }
}
