import { webSocketFrame } from "../../../http/web-socket-frame.ts";
import type { Link } from "./link.ts";
import { WebSocketError, WebSocketMessageReader } from "./web-socket-reader.ts";

const normalClosure = 1000;

/** A message that the client's side answers by itself. */
export const webSocketPing = webSocketFrame("ping", new Uint8Array());

/** The server's side of a WebSocket after the handshake. */
export class WebSocketConnection {
  readonly #link: Link;
  #isClosed = false;

  constructor(link: Link) {
    this.#link = link;
  }

  get signal(): AbortSignal {
    return this.#link.signal;
  }

  /** Yields the client's messages until it closes. A violation of the protocol ends them, too. */
  async *messages(): AsyncGenerator<Buffer, void> {
    const reader = new WebSocketMessageReader();
    try {
      for await (const chunk of this.#link.input) {
        for (const message of reader.read(chunk)) {
          if (message.kind === "close") return;
          if (message.kind === "ping") await this.#link.write(webSocketFrame("pong", message.payload));
          else yield message.payload;
        }
      }
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.close(error.closeCode);
    }
  }

  async send(type: "text" | "binary", payload: Uint8Array): Promise<void> {
    if (!this.#isClosed) await this.#link.write(webSocketFrame(type, payload));
  }

  /** Sends the close frame. The messages of the client may still be read. */
  close(code: number = normalClosure): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    void this.#link.write(webSocketFrame("close", Uint8Array.of(code >> 8, code & 0xff)));
  }
}
