import { describeMessage } from "../script/describe.ts";
import type { Happening, SimEvent } from "./world.ts";

const eventsKept = 60;

/** The latest events, for the analysis of a failed seed. */
export class Chronicle {
  readonly #events: SimEvent[] = [];
  #count = 0;

  note(event: SimEvent): void {
    this.#events[this.#count % eventsKept] = event;
    this.#count++;
  }

  /** Returns the events, oldest first, without ticks and clients' turns. */
  tell(): string[] {
    const start = Math.max(0, this.#count - eventsKept);
    const events = Array.from({ length: this.#count - start }, (_, at) => this.#events[(start + at) % eventsKept]);
    return events.flatMap((event) => {
      const line = event === undefined ? undefined : describe(event.what);
      return line === undefined ? [] : [`  ${event?.time} ${line}`];
    });
  }
}

function describe(what: Happening): string | undefined {
  switch (what.kind) {
    case "deliver":
      return describeMessage(what.message);
    case "written":
    case "applied":
    case "restart":
      return `${what.member} ${what.kind}`;
    case "streamed":
      return `${what.member} streamed to ${what.to}: ${what.arrived ? "arrived" : "lost"}`;
    case "tick":
    case "timer":
    case "client":
    case "action":
      return undefined;
  }
}
