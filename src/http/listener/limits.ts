/** Limits of the listener, with the behaviour at each. */
export interface ListenerLimits {
  /** A connection that has not finished its TLS handshake is closed. */
  readonly handshakeTimeoutMs: number;
  /** A connection whose first request head is not complete is closed. */
  readonly headersTimeoutMs: number;
  /** A request body that is not complete: 408, then the connection or stream is closed. */
  readonly bodyTimeoutMs: number;
  /** A connection without a request is closed. */
  readonly idleTimeoutMs: number;
  /** A client that reads nothing of a waiting reply is cut off. */
  readonly writeStallTimeoutMs: number;
  /** Time for which the rest of an unread body is discarded before the connection is closed. */
  readonly lingerMs: number;
  /** 431, or GOAWAY on HTTP/2. */
  readonly headerBytes: number;
  /** 413. */
  readonly bodyBytes: number;
  /** Streams per HTTP/2 connection. Further ones are refused. */
  readonly streams: number;
  /** Further connections are closed. */
  readonly connections: number;
}

export const defaultLimits: ListenerLimits = {
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 32_000,
  bodyTimeoutMs: 60_000,
  idleTimeoutMs: 90_000,
  writeStallTimeoutMs: 60_000,
  lingerMs: 5_000,
  headerBytes: 64 * 1024,
  bodyBytes: 3 * 1024 * 1024,
  streams: 250,
  connections: 20_000,
};
