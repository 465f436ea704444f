import { ByteQueue } from "./byte-queue.ts";
import type { WebSocketConnection } from "./web-socket-connection.ts";

/** The channel whose messages name another channel that the client closes. */
const closeChannel = 255;
/** The digit of channel 0. Those of the channels above 9 are the characters that follow the digits. */
const zeroDigit = 48;

export type ChannelEncoding = "binary" | "base64";

/** Streams over one WebSocket: the first byte, or digit, of every message is the number of its channel. */
export class WebSocketChannels {
  readonly #socket: WebSocketConnection;
  readonly #encoding: ChannelEncoding;
  readonly #inputs = new Map<number, ByteQueue>();

  /** @param readable the channels in which the client writes. Messages on others are discarded */
  constructor(socket: WebSocketConnection, encoding: ChannelEncoding, readable: readonly number[]) {
    this.#socket = socket;
    this.#encoding = encoding;
    for (const channel of readable) this.#inputs.set(channel, new ByteQueue());
  }

  /** Distributes the client's messages until it closes the connection. */
  async run({ canClose }: { readonly canClose: boolean }): Promise<void> {
    try {
      for await (const message of this.#socket.messages()) {
        const [first] = message;
        if (first === undefined) continue;
        if (canClose && first === closeChannel) this.#inputs.get(message[1] ?? closeChannel)?.end();
        else await this.#receive(message);
      }
    } finally {
      for (const input of this.#inputs.values()) input.end();
    }
  }

  /** The client's bytes on a channel; undefined for one in which it does not write. */
  input(channel: number): AsyncIterable<Uint8Array> | undefined {
    return this.#inputs.get(channel);
  }

  /** Discards what the client sends on a channel from now on. */
  discard(channel: number): void {
    this.#inputs.get(channel)?.abandon();
  }

  write(channel: number, payload: Uint8Array): Promise<void> {
    if (this.#encoding === "binary") {
      return this.#socket.send("binary", Buffer.concat([Uint8Array.of(channel), payload]));
    }
    const digit = String.fromCharCode(zeroDigit + channel);
    return this.#socket.send("text", Buffer.from(`${digit}${Buffer.from(payload).toString("base64")}`));
  }

  async #receive(message: Buffer): Promise<void> {
    if (this.#encoding === "binary") {
      await this.#inputs.get(message[0] as number)?.push(message.subarray(1));
      return;
    }
    await this.#inputs
      .get((message[0] as number) - zeroDigit)
      ?.push(Buffer.from(message.toString("latin1", 1), "base64"));
  }
}
