/** Limits of the listener. Each comment states the behaviour at the limit. */
export interface ListenerLimits {
  /** Time for the TLS handshake. The connection is then closed. */
  readonly handshakeTimeoutMs: number;
  /** Time for the first request head. The connection is then closed. */
  readonly headersTimeoutMs: number;
  /** Time for a request body. The answer is a 408, and the connection or stream is closed. */
  readonly bodyTimeoutMs: number;
  /** Time without a request. The connection is then closed. */
  readonly idleTimeoutMs: number;
  /** Time in which a client reads nothing of a waiting reply. It is then cut off. */
  readonly writeStallTimeoutMs: number;
  /** Time for discarding the rest of an unread body. The connection is then closed. */
  readonly lingerMs: number;
  /** Size of a head. The answer is a 431, or GOAWAY on HTTP/2. */
  readonly headerBytes: number;
  /** Size of a body. The answer is a 413. */
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
