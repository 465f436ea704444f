import { TextError } from "../../api/status.ts";
import type { HttpResponse } from "../../request/exchange.ts";

/** Time after which a client that was refused may ask again. */
const retryAfterSeconds = 60;

/** Counts the sessions of an endpoint. Each holds a connection, and most of them a process. */
export class SessionLimit {
  readonly #max: number;
  #open = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a session until it ends. @throws TextError 429 if there are too many, or the error of `start` */
  hold(start: () => HttpResponse): HttpResponse {
    if (this.#open >= this.#max) {
      throw tooManySessions("rpc error: code = ResourceExhausted desc = maximum number of in-flight requests exceeded");
    }
    const response = start();
    if (response.kind !== "stream") return response;
    this.#open++;
    return {
      ...response,
      run: (sink) =>
        response.run(sink).finally(() => {
          this.#open--;
        }),
    };
  }
}

/** The answer to a request for a session while there are too many. */
export function tooManySessions(message: string): TextError {
  return new TextError(429, message, [["retry-after", String(retryAfterSeconds)]]);
}
