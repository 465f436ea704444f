import { join } from "node:path";
import type { Answer, MemberOptions, Order } from "./member.ts";

type OrderBody = Order extends infer One ? (One extends Order ? Omit<One, "request"> : never) : never;

const answerMsMax = 8000;
const startMsMax = 15_000;

/** A member's process. A round starts and ends it as often as it needs. */
export class MemberProcess {
  readonly #options: MemberOptions;
  #process: Bun.Subprocess<"ignore", "inherit", "inherit"> | undefined;
  #waiting = new Map<number, (answer: Answer | undefined) => void>();
  #requests = 0;

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  get id(): number {
    return this.#options.id;
  }

  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Exit code; undefined while it runs. */
  get exitCode(): number | undefined {
    return this.#process?.exitCode ?? undefined;
  }

  /** Starts the process. @throws when the member does not start */
  async start(crash?: MemberOptions["crash"]): Promise<void> {
    const waiting = new Map<number, (answer: Answer | undefined) => void>();
    this.#waiting = waiting;
    const started = this.#answer(0, startMsMax);
    const options: MemberOptions = { ...this.#options, ...(crash !== undefined && { crash }) };
    this.#process = Bun.spawn([process.execPath, join(import.meta.dir, "member.ts"), JSON.stringify(options)], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      ipc: (answer: Answer) => waiting.get(answer.request)?.(answer),
      onExit: () => {
        for (const resolve of waiting.values()) resolve(undefined);
      },
    });
    if ((await started) !== undefined || (crash !== undefined && !this.isRunning)) return;
    throw new Error(
      `member ${this.id} did not start: exit code ${this.#process.exitCode}, ${this.#process.signalCode}`,
    );
  }

  /** Sends an order. Resolves with undefined if there is no answer, because the process ended or stands still. */
  ask(order: OrderBody): Promise<Answer | undefined> {
    if (!this.isRunning) return Promise.resolve(undefined);
    const request = ++this.#requests;
    const answer = this.#answer(request, answerMsMax);
    try {
      this.#process?.send({ ...order, request });
    } catch {
      this.#waiting.get(request)?.(undefined);
    }
    return answer;
  }

  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    if (this.isRunning) this.#process?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#process?.exited;
  }

  #answer(request: number, msMax: number): Promise<Answer | undefined> {
    const waiting = this.#waiting;
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(undefined), msMax);
      const done = (answer: Answer | undefined) => {
        clearTimeout(timer);
        waiting.delete(request);
        resolve(answer);
      };
      waiting.set(request, done);
    });
  }
}
