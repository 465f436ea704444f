import type { HeaderList } from "../../request/exchange.ts";
import { type AnswerHead, headBytesMax, headEnd, parseHead } from "./message-head.ts";

/** A complete answer. */
export interface Http1Answer {
  readonly code: number;
  /** Names in lower case. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** Whether the server takes another request on the same connection. */
  readonly keepsAlive: boolean;
}

/** The server sent something that is not an answer, or too much. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** Limit of the answers with a code below 200, which precede the real one. */
const interimAnswersMax = 5;
/** Limit of the line with the size of a chunk. */
const chunkLineBytesMax = 256;
const empty = Buffer.alloc(0);

/** The part of the answer that comes next, with its bytes that are still missing where that is known. */
type Part =
  | { readonly kind: "head" | "chunkSize" | "chunkEnd" | "trailer" | "untilClose" | "complete" }
  | { readonly kind: "body" | "chunk"; missing: number };

/** Reads one answer of HTTP/1.1 from the pieces in which it arrives. */
export class AnswerReader {
  readonly #bodyBytesMax: number;
  #part: Part = { kind: "head" };
  /** Start of a head or a line whose end has not arrived. */
  #held: Buffer = empty;
  #head: AnswerHead = { code: 0, minorVersion: 1, headers: [] };
  #interimAnswers = 0;
  #trailerBytes = 0;
  #body: Buffer = empty;
  #bodyLength = 0;

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /**
   * Takes the next piece. Returns the answer if that completes it.
   * @throws AnswerError
   */
  read(piece: Buffer): Http1Answer | undefined {
    let rest = this.#held.byteLength === 0 ? piece : Buffer.concat([this.#held, piece]);
    this.#held = empty;
    while (this.#part.kind !== "complete") {
      const next = this.#step(rest);
      if (next === undefined) return undefined;
      rest = next;
    }
    return this.#answer(rest.byteLength === 0 && staysOpen(this.#head));
  }

  /** Takes the end of the connection. Returns the answer if that was its end. */
  end(): Http1Answer | undefined {
    return this.#part.kind === "untilClose" ? this.#answer(false) : undefined;
  }

  #answer(keepsAlive: boolean): Http1Answer {
    const { code, headers } = this.#head;
    return { code, headers, body: this.#body.subarray(0, this.#bodyLength), keepsAlive };
  }

  /** Reads one part, or as much of it as there is. Returns the bytes after it, or undefined if more must arrive. */
  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#part.kind) {
      case "head":
        return this.#readHead(bytes);
      case "body":
        return this.#readSized(this.#part, bytes, "complete");
      case "untilClose":
        this.#append(bytes);
        return undefined;
      case "chunkSize":
        return this.#readLine(bytes, (line) => this.#startChunk(line));
      case "chunk":
        return this.#readSized(this.#part, bytes, "chunkEnd");
      case "chunkEnd":
        return this.#readLine(bytes, (line) => {
          if (line !== "") throw new AnswerError("malformed chunked encoding");
          this.#part = { kind: "chunkSize" };
        });
      case "trailer":
        return this.#readLine(bytes, (line) => {
          this.#trailerBytes += line.length;
          if (this.#trailerBytes > headBytesMax) throw new AnswerError("the trailer of the response is too large");
          if (line === "") this.#part = { kind: "complete" };
        });
      case "complete":
        return undefined;
    }
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(headEnd);
    if (end > headBytesMax || (end === -1 && bytes.byteLength > headBytesMax)) {
      throw new AnswerError("the head of the response is too large");
    }
    if (end === -1) return this.#hold(bytes);
    const head = parseHead(bytes.toString("latin1", 0, end));
    if (head === undefined || head.code < 100 || head.code === 101) throw new AnswerError("malformed HTTP response");
    if (head.code >= 200) {
      this.#head = head;
      this.#part = this.#bodyOf(head);
    } else if (++this.#interimAnswers > interimAnswersMax) {
      throw new AnswerError("too many 1xx informational responses");
    }
    return bytes.subarray(end + headEnd.byteLength);
  }

  /** Returns the part after the head. */
  #bodyOf({ code, headers }: AnswerHead): Part {
    if (code === 204 || code === 304) return { kind: "complete" };
    const encodings = valuesOf(headers, "transfer-encoding");
    if (encodings.length > 0) {
      const encoding = encodings.join(", ");
      if (encoding.toLowerCase() === "chunked") return { kind: "chunkSize" };
      throw new AnswerError(`unsupported transfer encoding: ${JSON.stringify(encoding)}`);
    }
    const lengths = new Set(valuesOf(headers, "content-length"));
    const [length] = lengths;
    if (length === undefined) return { kind: "untilClose" };
    if (lengths.size > 1 || !/^[0-9]{1,15}$/.test(length)) {
      throw new AnswerError(`bad Content-Length ${JSON.stringify([...lengths].join(", "))}`);
    }
    const missing = Number(length);
    if (missing > this.#bodyBytesMax) throw this.#tooLong();
    return missing === 0 ? { kind: "complete" } : { kind: "body", missing };
  }

  #startChunk(line: string): void {
    const size = /^([0-9a-fA-F]{1,8})[ \t]*(?:;|$)/.exec(line)?.[1];
    if (size === undefined) throw new AnswerError("malformed chunked encoding");
    const missing = Number.parseInt(size, 16);
    this.#part = missing === 0 ? { kind: "trailer" } : { kind: "chunk", missing };
  }

  #readSized(part: { missing: number }, bytes: Buffer, next: "complete" | "chunkEnd"): Buffer | undefined {
    const taken = bytes.subarray(0, part.missing);
    this.#append(taken);
    part.missing -= taken.byteLength;
    if (part.missing > 0) return undefined;
    this.#part = { kind: next };
    return bytes.subarray(taken.byteLength);
  }

  /** Reads a line of the chunked encoding, which ends with a line feed. */
  #readLine(bytes: Buffer, take: (line: string) => void): Buffer | undefined {
    const end = bytes.indexOf("\n");
    const isLong = this.#part.kind === "trailer" ? headBytesMax : chunkLineBytesMax;
    if (end > isLong || (end === -1 && bytes.byteLength > isLong)) throw new AnswerError("header line too long");
    if (end === -1) return this.#hold(bytes);
    take(bytes.toString("latin1", 0, end).replace(/\r$/, ""));
    return bytes.subarray(end + 1);
  }

  #hold(bytes: Buffer): undefined {
    this.#held = bytes;
  }

  #append(bytes: Buffer): void {
    const length = this.#bodyLength + bytes.byteLength;
    if (length > this.#bodyBytesMax) throw this.#tooLong();
    if (length > this.#body.byteLength) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#body.byteLength));
      this.#body.copy(grown, 0, 0, this.#bodyLength);
      this.#body = grown;
    }
    bytes.copy(this.#body, this.#bodyLength);
    this.#bodyLength = length;
  }

  #tooLong(): AnswerError {
    return new AnswerError(`the answer is longer than ${this.#bodyBytesMax} bytes`);
  }
}

function valuesOf(headers: HeaderList, name: string): string[] {
  return headers.filter(([key]) => key === name).map(([, value]) => value);
}

/** Reports whether the connection stays open after the answer. */
function staysOpen({ minorVersion, headers }: AnswerHead): boolean {
  return minorVersion === 1 && !valuesOf(headers, "connection").some((value) => value.toLowerCase().includes("close"));
}
