/** One request as it goes out. */
export interface TransportRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Ends the request, also while its answer is read. */
  readonly signal: AbortSignal;
}

/** The head of an answer, and its body as it comes. The body has to be read, to its end or until it is left. */
export interface TransportAnswer {
  readonly code: number;
  /** The Retry-After header; undefined when it is absent or a date. */
  readonly retryAfterSeconds: number | undefined;
  /** Ends when the answer is complete. Throws NoAnswerError when it breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Carries requests to one API server. */
export interface Transport extends Disposable {
  /** @throws NoAnswerError, or the reason of the signal */
  send(request: TransportRequest): Promise<TransportAnswer>;
}

/** No answer came, or it broke off. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  /** Whether the request may have been done. */
  readonly outcome: "notDone" | "unknown";

  constructor(message: string, options: ErrorOptions & { readonly outcome?: "notDone" } = {}) {
    super(message, options);
    this.outcome = options.outcome ?? "unknown";
  }
}
