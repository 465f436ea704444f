import type { Clock } from "../../process/clock.ts";
import type { FromServingProcess, ServingStart, ToServingProcess } from "./messages.ts";

/** Time for an answer. A process that takes longer hangs, or ends. */
const answerMsMax = 5_000;

export interface ServingProcessParts {
  readonly command: readonly string[];
  readonly start: ServingStart;
  readonly clock: Clock;
  onReady(): void;
  onIssuerKeyWithdrawn(): void;
  onEnded(): void;
}

/** A running serving process, as the process that keeps the store sees it. */
export class ServingProcess {
  readonly #clock: Clock;
  readonly #child: Bun.Subprocess;
  readonly #waiting = new Map<number, (text: string | undefined) => void>();
  readonly #ended = Promise.withResolvers<void>();
  #lastId = 0;
  #lastMetrics: string | undefined;
  #isReady = false;

  constructor({ command, start, clock, onReady, onIssuerKeyWithdrawn, onEnded }: ServingProcessParts) {
    this.#clock = clock;
    this.#child = Bun.spawn([...command], {
      stdio: ["ignore", "inherit", "inherit"],
      serialization: "json",
      ipc: (message: FromServingProcess) => {
        switch (message.kind) {
          case "ready":
            this.#isReady = true;
            return onReady();
          case "answer":
            return this.#waiting.get(message.id)?.(message.text);
          case "issuerKeyWithdrawn":
            return onIssuerKeyWithdrawn();
        }
      },
      onExit: () => {
        this.#isReady = false;
        for (const settle of this.#waiting.values()) settle(undefined);
        onEnded();
        this.#ended.resolve();
      },
    });
    this.send({ kind: "start", start });
  }

  /** Whether it accepts requests. */
  get isReady(): boolean {
    return this.#isReady;
  }

  send(message: ToServingProcess): void {
    // A process that has just ended takes no message. Its end is reported anyway.
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.send(message);
  }

  /** Sends a message, and resolves with the answer; with undefined if none comes in time. */
  ask(make: (id: number) => ToServingProcess): Promise<string | undefined> {
    if (!this.#isReady) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const settle = (text: string | undefined): void => {
        timer[Symbol.dispose]();
        this.#waiting.delete(id);
        resolve(text);
      };
      const timer = this.#clock.after(answerMsMax, () => settle(undefined));
      this.#waiting.set(id, settle);
      this.send(make(id));
    });
  }

  /** Returns its metrics; those of the last answer if none comes in time, because counters must not go back. */
  async metrics(reset: boolean): Promise<string | undefined> {
    this.#lastMetrics = (await this.ask((id) => ({ kind: "metrics", id, reset }))) ?? this.#lastMetrics;
    return this.#lastMetrics;
  }

  /** Resolves when the process has ended, and `onEnded` has been called. */
  ended(): Promise<void> {
    return this.#ended.promise;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
