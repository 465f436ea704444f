import { TextError } from "../../api/status.ts";
import { textReply } from "../../http/error-response.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { Reply } from "../../request/exchange.ts";
import type { RequestTarget } from "./request-target.ts";

/** A check of `/healthz`, such as `syncloop`. Throws if it fails. */
export interface HealthCheck {
  readonly name: string;
  check(): void;
}

/** Serves `/healthz` and the single checks below it. */
export class Health {
  readonly #checks: readonly HealthCheck[];
  readonly #onFailure: (check: string, reason: string) => void;
  /** Numbers of passed and failed checks since the start. */
  readonly #results = new Map<string, { passed: number; failed: number; isHealthy: boolean }>();

  constructor(checks: readonly HealthCheck[], onFailure: (check: string, reason: string) => void) {
    this.#checks = [{ name: "ping", check() {} }, ...checks];
    this.#onFailure = onFailure;
  }

  get results(): ReadonlyMap<
    string,
    { readonly passed: number; readonly failed: number; readonly isHealthy: boolean }
  > {
    return this.#results;
  }

  answer({ segments, query }: RequestTarget): Reply {
    const [, ...rest] = segments;
    if (rest.length > 0) return this.#answerOne(rest.join("/"));
    const excluded = new Set(query.getAll("exclude"));
    const lines: string[] = [];
    let isHealthy = true;
    for (const check of this.#checks) {
      if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok`);
      else if (this.#run(check) === undefined) lines.push(`[+]${check.name} ok`);
      else {
        isHealthy = false;
        lines.push(`[-]${check.name} failed: reason withheld`);
      }
    }
    if (isHealthy && !query.has("verbose")) return textReply(200, "ok");
    if (excluded.size > 0) {
      const names = [...excluded].map((name) => JSON.stringify(name)).join(", ");
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
    }
    lines.push(`healthz check ${isHealthy ? "passed" : "failed"}`);
    return textReply(isHealthy ? 200 : 500, `${lines.join("\n")}\n`);
  }

  #answerOne(name: string): Reply {
    const check = this.#checks.find((one) => one.name === name);
    if (check === undefined) throw new TextError(404, "404 page not found\n");
    const reason = this.#run(check);
    return reason === undefined ? textReply(200, "ok") : textReply(500, `internal server error: ${reason}\n`);
  }

  /** Returns the reason of a failure. */
  #run({ name, check }: HealthCheck): string | undefined {
    const result = this.#results.get(name) ?? { passed: 0, failed: 0, isHealthy: true };
    this.#results.set(name, result);
    try {
      check();
      result.passed++;
      result.isHealthy = true;
      return undefined;
    } catch (error) {
      const reason = thrownText(error);
      result.failed++;
      result.isHealthy = false;
      this.#onFailure(name, reason);
      return reason;
    }
  }
}
