import { status } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import type { Exchange, Handler } from "../request/exchange.ts";
import type { Store } from "../storage/store.ts";
import { textReply } from "./error-response.ts";
import type { Lifecycle } from "./lifecycle.ts";

export type HealthEndpoint = "livez" | "readyz" | "healthz";
export const healthEndpoints: readonly HealthEndpoint[] = ["livez", "readyz", "healthz"];

/** Timeout of a check. */
const checkTimeoutMs = 5_000;

export interface HealthCheck {
  /** A unique name. It may contain slashes: `poststarthook/rbac/bootstrap-roles`. */
  readonly name: string;
  readonly endpoints: readonly HealthEndpoint[];
  /** A name by which `exclude` leaves out several checks at once. */
  readonly group?: string;
  /** Throws if the check fails. */
  check(): Promise<void> | void;
  /** Whether it is part of the startup. livez counts it as healthy until it passes or the grace period ends. */
  readonly startup?: boolean;
}

export interface HealthOptions {
  readonly clock: Clock;
  readonly checks: readonly HealthCheck[];
  /** Grace period, starting now, in which livez ignores startup checks. */
  readonly livezGracePeriodMs?: number | undefined;
  /** Called with the result of each check when all checks of an endpoint run. */
  readonly onResult?: ((endpoint: HealthEndpoint, check: string, passed: boolean) => void) | undefined;
  readonly onFailure?: ((endpoint: HealthEndpoint, check: string, error: unknown) => void) | undefined;
}

/** Fails readyz as soon as the server is shutting down. */
export function shutdownCheck(lifecycle: Lifecycle): HealthCheck {
  return {
    name: "shutdown",
    endpoints: ["readyz"],
    check() {
      if (lifecycle.phase !== "serving") throw new Error("process is shutting down");
    },
  };
}

/** Fails when the store takes no more writes. Probes and dashboards know the store by this name. */
export function storeCheck(store: Pick<Store, "failure">): HealthCheck {
  return {
    name: "etcd",
    endpoints: healthEndpoints,
    check() {
      if (store.failure !== undefined) throw new Error("the store takes no more writes");
    },
  };
}

/** Time after which a quorum counts as lost. */
const quorumTimeoutMs = 2_000;

/** Fails while this replica cannot confirm that its state is up to date. */
export function quorumCheck(store: Pick<Store, "readBarrier">, clock: Clock): HealthCheck {
  const check = () => confirm(store, clock, quorumTimeoutMs, "no quorum answers");
  return { name: "etcd-readiness", endpoints: ["readyz"], check };
}

export interface EtcdCheckTimeouts {
  readonly healthcheckTimeoutMs: number;
  readonly readycheckTimeoutMs: number;
}

/**
 * Returns the checks that fail while an etcd does not answer. The names are upstream's.
 * @param eventStore the store of Events, if it is on another etcd
 */
export function etcdChecks(
  store: Pick<Store, "readBarrier">,
  eventStore: Pick<Store, "readBarrier"> | undefined,
  clock: Clock,
  { healthcheckTimeoutMs, readycheckTimeoutMs }: EtcdCheckTimeouts,
): HealthCheck[] {
  const checks = (on: Pick<Store, "readBarrier">, names: readonly [health: string, ready: string]): HealthCheck[] => {
    const within = (timeoutMs: number) => () => confirm(on, clock, timeoutMs, "etcd does not answer");
    return [
      { name: names[0], group: "etcd", endpoints: healthEndpoints, check: within(healthcheckTimeoutMs) },
      { name: names[1], group: "etcd-readiness", endpoints: ["readyz"], check: within(readycheckTimeoutMs) },
    ];
  };
  return [
    ...checks(store, ["etcd", "etcd-readiness"]),
    ...(eventStore === undefined ? [] : checks(eventStore, ["etcd-override-0", "etcd-override-readiness-0"])),
  ];
}

async function confirm(
  store: Pick<Store, "readBarrier">,
  clock: Clock,
  timeoutMs: number,
  failure: string,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.after(timeoutMs, () => reject(new Error(failure)));
  try {
    await Promise.race([store.readBarrier(), promise]);
  } finally {
    timer[Symbol.dispose]();
  }
}

export const pingCheck: HealthCheck = { name: "ping", endpoints: healthEndpoints, check() {} };

/** Returns the names of the checks that fail now. */
export async function failingChecks(
  { clock, checks }: Pick<HealthOptions, "clock" | "checks">,
  endpoint: HealthEndpoint,
): Promise<string[]> {
  const asked = checks.filter(({ endpoints }) => endpoints.includes(endpoint));
  const outcomes = await Promise.allSettled(asked.map((check) => withTimeout(clock, check)));
  return asked.filter((_, at) => outcomes[at]?.status === "rejected").map(({ name }) => name);
}

/**
 * Serves `/livez`, `/readyz`, `/healthz` and the single checks below them. Reports the reasons of failures only to
 * `onFailure`.
 */
export function healthHandler(options: HealthOptions): Handler {
  const startedMs = options.clock.steadyMs();
  const graceMs = options.livezGracePeriodMs ?? 0;
  const passed = new Set<HealthCheck>();

  const run = async (endpoint: HealthEndpoint, check: HealthCheck): Promise<Error | undefined> => {
    try {
      await withTimeout(options.clock, check);
      passed.add(check);
      return undefined;
    } catch (error) {
      const inGrace = options.clock.steadyMs() - startedMs < graceMs;
      if (endpoint === "livez" && check.startup === true && inGrace && !passed.has(check)) return undefined;
      options.onFailure?.(endpoint, check.name, error);
      return error instanceof Error ? error : new Error(String(error));
    }
  };

  return async ({ info }: Exchange) => {
    const [endpoint, name] = splitPath(info.path);
    const checks = options.checks.filter(({ endpoints }) => endpoints.includes(endpoint));
    if (name !== undefined) {
      const check = checks.find((candidate) => candidate.name === name);
      if (check === undefined) throw status.pathNotFound();
      const error = await run(endpoint, check);
      return error === undefined ? textReply(200, "ok") : textReply(500, `internal server error: ${error.message}\n`);
    }
    const excluded = new Set(info.query.get("exclude"));
    const results = await Promise.all(
      checks.map(async (check) => {
        const { name, group } = check;
        const by = [name, group].find((candidate) => candidate !== undefined && excluded.has(candidate));
        return { name, excluded: by, error: by === undefined ? await run(endpoint, check) : undefined };
      }),
    );
    for (const { name: check, excluded: skipped, error } of results) {
      if (skipped === undefined) options.onResult?.(endpoint, check, error === undefined);
    }
    const healthy = results.every(({ error }) => error === undefined);
    if (healthy && !info.query.has("verbose")) return textReply(200, "ok");
    const unknown = [...excluded].filter(
      (wanted) => !checks.some((check) => check.name === wanted || check.group === wanted),
    );
    // Our specification has one text for all endpoints. Upstream names the endpoint.
    const last = healthy ? "healthz check passed" : `${endpoint} check failed`;
    const lines = [...results.map(lineOf), ...warningOf(unknown), last];
    return textReply(healthy ? 200 : 500, `${lines.join("\n")}\n`);
  };
}

function splitPath(path: string): [endpoint: HealthEndpoint, check: string | undefined] {
  const [, first = "", ...rest] = path.split("/");
  const endpoint = healthEndpoints.find((candidate) => candidate === first);
  if (endpoint === undefined) throw status.pathNotFound();
  return [endpoint, rest.length === 0 ? undefined : rest.join("/")];
}

/** @param excluded the name or group that excludes the check */
function lineOf({ name, excluded, error }: { name: string; excluded: string | undefined; error: Error | undefined }) {
  if (excluded !== undefined) return `[+]${name} excluded${excluded === name ? "" : ` with ${excluded}`}: ok`;
  return error === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
}

function warningOf(unknown: readonly string[]): string[] {
  if (unknown.length === 0) return [];
  const names = unknown.map((name) => JSON.stringify(name)).join(", ");
  return [`warn: some health checks cannot be excluded: no matches for ${names}`];
}

async function withTimeout(clock: Clock, { check }: HealthCheck): Promise<void> {
  const outcome = check();
  if (!(outcome instanceof Promise)) return;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.after(checkTimeoutMs, () => reject(new Error("the check takes too long")));
  try {
    await Promise.race([outcome, promise]);
  } finally {
    timer[Symbol.dispose]();
  }
}
