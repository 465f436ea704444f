import type { TLSSocket } from "node:tls";
import type { PeerCertificate } from "../../request/exchange.ts";

/**
 * One TLS connection. Its deadline is swept by the listener instead of having a timer of its own,
 * because it moves with every request.
 */
export class Connection {
  readonly socket: TLSSocket;
  readonly remoteAddress: string;
  peer: PeerCertificate = { kind: "none" };
  /** On the monotonic clock; Infinity while requests run. */
  deadlineMs: number;
  activeRequests = 0;
  /** TLS is not agreed upon yet. */
  isShakingHands = true;
  /** The authorities became others meanwhile: what TLS says of the client's certificate may be by those before. */
  hasOldTrust = false;
  /** No more requests are wanted. */
  isFinishing = false;
  /** Ends the connection once its requests are done. Set when the protocol is known. */
  finish: () => void = () => this.socket.destroy();

  constructor(socket: TLSSocket, timeoutMs: number) {
    this.socket = socket;
    this.remoteAddress = socket.remoteAddress ?? "";
    this.deadlineMs = performance.now() + timeoutMs;
  }

  /** The connection is closed unless something happens within so many milliseconds. */
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
