const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");

type Part =
  | { readonly kind: "head" }
  | { readonly kind: "chunkSize" }
  | { readonly kind: "chunkEnd" }
  | { readonly kind: "trailer" }
  | { readonly kind: "body"; left: number; readonly isChunk: boolean }
  | { readonly kind: "done" };

/** Reads one HTTP/1.1 response in pieces. */
export class ResponseReader {
  readonly #onChunk: (chunk: Buffer, code: number) => void;
  readonly #onEnd: (code: number, keepsOpen: boolean) => void;
  #rest: Buffer = Buffer.alloc(0);
  #part: Part = { kind: "head" };
  #code = 0;
  #keepsOpen = true;

  constructor(onChunk: (chunk: Buffer, code: number) => void, onEnd: (code: number, keepsOpen: boolean) => void) {
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
  }

  /** Reads more bytes. @throws when they are not HTTP */
  read(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#part.kind !== "done" && this.#step(this.#part));
    if (this.#part.kind === "done") this.#onEnd(this.#code, this.#keepsOpen);
  }

  /** Reads a part. Returns false when more bytes are needed. */
  #step(part: Part): boolean {
    switch (part.kind) {
      case "head": {
        const head = this.#take(headEnd);
        if (head === undefined) return false;
        this.#part = this.#begin(head);
        return true;
      }
      case "chunkSize": {
        const line = this.#take(lineEnd);
        if (line === undefined) return false;
        const left = Number.parseInt(line, 16);
        if (Number.isNaN(left)) throw new Error(`not the size of a chunk: ${line.slice(0, 40)}`);
        this.#part = left === 0 ? { kind: "trailer" } : { kind: "body", left, isChunk: true };
        return true;
      }
      case "chunkEnd":
      case "trailer": {
        if (this.#take(lineEnd) === undefined) return false;
        this.#part = part.kind === "trailer" ? { kind: "done" } : { kind: "chunkSize" };
        return true;
      }
      case "body": {
        const taken = this.#rest.subarray(0, part.left);
        if (taken.length === 0 && part.left > 0) return false;
        this.#rest = this.#rest.subarray(taken.length);
        part.left -= taken.length;
        if (taken.length > 0) this.#onChunk(taken, this.#code);
        if (part.left === 0) this.#part = part.isChunk ? { kind: "chunkEnd" } : { kind: "done" };
        return true;
      }
      case "done":
        return false;
    }
  }

  #begin(head: string): Part {
    const [status = "", ...lines] = head.split("\r\n");
    this.#code = Number(/^HTTP\/1\.1 (\d{3})/.exec(status)?.[1]);
    if (Number.isNaN(this.#code)) throw new Error(`not a status line: ${status.slice(0, 40)}`);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    this.#keepsOpen = headers.get("connection")?.toLowerCase() !== "close";
    if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return { kind: "chunkSize" };
    const left = Number(headers.get("content-length") ?? 0);
    return left === 0 ? { kind: "done" } : { kind: "body", left, isChunk: false };
  }

  /** Takes the text up to the mark and the mark itself, or returns undefined when it has not arrived yet. */
  #take(mark: Buffer): string | undefined {
    const at = this.#rest.indexOf(mark);
    if (at === -1) return undefined;
    const text = this.#rest.subarray(0, at).toString("latin1");
    this.#rest = this.#rest.subarray(at + mark.length);
    return text;
  }
}
