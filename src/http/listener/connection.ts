import type { Socket } from "node:net";
import type { PeerCertificate } from "../../request/exchange.ts";

/**
 * A connection, with TLS or without. The listener checks its deadline periodically, because a timer would have to be
 * reset for every request.
 */
export class Connection<S extends Socket = Socket> {
  readonly socket: S;
  readonly remoteAddress: string;
  peer: PeerCertificate = { kind: "none" };
  /** The deadline on the monotonic clock; Infinity while requests run. */
  deadlineMs: number;
  activeRequests = 0;
  /** Whether the TLS handshake is incomplete. */
  isShakingHands = true;
  /**
   * Whether the authorities changed during the handshake. TLS may then have verified the certificate with the old ones.
   */
  hasOldTrust = false;
  /** Whether it takes no more requests. */
  isFinishing = false;
  /** Ends the connection once its requests are done. Set when the protocol is known. */
  finish: () => void = () => this.socket.destroy();

  constructor(socket: S, timeoutMs: number) {
    this.socket = socket;
    this.remoteAddress = socket.remoteAddress ?? "";
    this.deadlineMs = performance.now() + timeoutMs;
  }

  /** Sets the deadline to this time from now. The connection is closed then. */
  expect(timeoutMs: number): void {
    this.deadlineMs = performance.now() + timeoutMs;
  }

  begin(): void {
    this.activeRequests++;
    this.deadlineMs = Number.POSITIVE_INFINITY;
  }

  end(idleTimeoutMs: number): void {
    this.activeRequests--;
    if (this.activeRequests === 0) this.expect(idleTimeoutMs);
  }
}
