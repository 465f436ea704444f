/** A request in the form in which it is sent. */
export interface TransportRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Aborts the request, also while its answer is read. */
  readonly signal: AbortSignal;
}

/** An answer with its body as it arrives. The body must be read to its end or cancelled. */
export interface TransportAnswer {
  readonly code: number;
  /** Seconds of the Retry-After header; undefined if it is absent or a date. */
  readonly retryAfterSeconds: number | undefined;
  /** Ends with the answer. Throws NoAnswerError if the answer is cut short. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Carries requests to one API server. */
export interface Transport extends Disposable {
  /** @throws NoAnswerError, or the reason of the signal */
  send(request: TransportRequest): Promise<TransportAnswer>;
}

/** A request without a complete answer. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  /** Whether the request may have been carried out. */
  readonly outcome: "notDone" | "unknown";

  constructor(message: string, options: ErrorOptions & { readonly outcome?: "notDone" } = {}) {
    super(message, options);
    this.outcome = options.outcome ?? "unknown";
  }
}
