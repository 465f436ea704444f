/** A random time, drawn for each container, from `afterMs` to `afterMs + jitterMs`. */
export interface Delay {
  readonly afterMs: number;
  readonly jitterMs: number;
}

/** A step that may fail instead of being done. */
export interface RiskyStep extends Delay {
  /** From 0 to 1. */
  readonly failureRate: number;
  readonly message: string;
}

export interface Exit extends Delay {
  readonly code: number;
  /** From 0 to 1; the part of exits that have `failureCode` instead of `code`. */
  readonly failureRate: number;
  readonly failureCode: number;
  /** Undefined for `Completed` or `Error`, by the code. */
  readonly reason: string | undefined;
  readonly message: string;
}

/** The reaction to the stop signal. */
export interface Stop extends Delay {
  readonly code: number;
}

/** The life of one run of a container. Times count from its start, except that of `start` itself. */
export interface Behaviour {
  readonly start: RiskyStep;
  /** Time until the startup probe succeeds. */
  readonly startup: Delay | "never";
  /** Time until the readiness probe succeeds. */
  readonly ready: Delay | "never";
  /** Time after which the probes of liveness and readiness fail. */
  readonly unhealthy: Delay | "never";
  /** Undefined for a container that follows its command if that is understood, and runs on otherwise. */
  readonly exit: Exit | "never" | undefined;
  readonly stop: Stop;
  /** Lines of the log after the first one. */
  readonly logs: readonly string[];
}

/** The steps that a rule decides. */
export type Steps = Partial<Behaviour>;

const atOnce: Delay = { afterMs: 0, jitterMs: 0 };

/** The behaviour of a container that no rule matches. */
export const runsOn: Behaviour = {
  start: { ...atOnce, failureRate: 0, message: "" },
  startup: atOnce,
  ready: atOnce,
  unhealthy: "never",
  exit: undefined,
  stop: { ...atOnce, code: 0 },
  logs: [],
};

/** The exit of a container that has work to do, such as one of a Job. */
export const completes: Exit = {
  afterMs: 1_000,
  jitterMs: 1_000,
  code: 0,
  failureRate: 0,
  failureCode: 1,
  reason: undefined,
  message: "",
};

/** @param random a number in [0, 1) */
export function drawMs({ afterMs, jitterMs }: Delay, random: () => number): number {
  return jitterMs === 0 ? afterMs : afterMs + random() * jitterMs;
}

/** Returns Infinity for something that never happens. */
export function drawMsOrNever(delay: Delay | "never", random: () => number): number {
  return delay === "never" ? Number.POSITIVE_INFINITY : drawMs(delay, random);
}
