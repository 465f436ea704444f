import type { Registry } from "prom-client";
import type { RequestAuthenticator } from "../../access/authentication/authenticator.ts";
import { StatusError } from "../../api/status.ts";
import type { IncomingRequest } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { decisionBuckets } from "./authorization-metrics.ts";
import { BoundCounter, BoundHistogram, type CounterChild, type HistogramChild } from "./bound-metric.ts";

/** The only user names that become labels. Other names are unbounded, and private. */
const labelledNames = [
  "admin",
  "client",
  "kube_proxy",
  "kubelet",
  "system:serviceaccount:kube-system:default",
] as const;

const [minute, hour, day] = [60, 3_600, 86_400];
const lifetimeBuckets = [
  0,
  30 * minute,
  ...[1, 2, 6, 12].map((hours) => hours * hour),
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * day),
];

export interface AuthenticationMeasures {
  readonly registry: Registry;
  /** Observes the duration of the filter. */
  readonly inFilter: HistogramChild;
  readonly nowMs: () => number;
}

/** Wraps an authenticator; counts and times its answers by result and kind of user, under upstream's names. */
export function countAuthentications(
  authenticator: RequestAuthenticator,
  { registry, inFilter, nowMs }: AuthenticationMeasures,
): RequestAuthenticator {
  const attempts = new BoundCounter("authentication_attempts", "Authentication attempts, by result.");
  const durations = new BoundHistogram(
    "authentication_duration_seconds",
    "Duration of authentication, by result.",
    decisionBuckets,
  );
  const users = new BoundCounter(
    "authenticated_user_requests",
    "Authenticated requests, by user name; most names count as other.",
  );
  const lifetimes = new BoundHistogram(
    "apiserver_client_certificate_expiration_seconds",
    "Remaining lifetime of the client certificates of requests.",
    lifetimeBuckets,
  );
  for (const family of [attempts, durations, users, lifetimes]) family.register(registry);
  const named = new Map<string, CounterChild>(labelledNames.map((username) => [username, users.labels({ username })]));
  const email = users.labels({ username: "email_id" });
  const other = users.labels({ username: "other" });
  const lifetime = lifetimes.labels({});
  const ended = (result: string) => {
    const count = attempts.labels({ result });
    const duration = durations.labels({ result });
    return (startedMs: number) => {
      const seconds = (performance.now() - startedMs) / 1_000;
      count.value++;
      duration.observe(seconds);
      inFilter.observe(seconds);
    };
  };
  const [success, failure, failed] = [ended("success"), ended("failure"), ended("error")];

  const succeed = (user: UserInfo, { peer }: IncomingRequest, startedMs: number): UserInfo => {
    success(startedMs);
    (named.get(user.name) ?? (user.name.includes("@") ? email : other)).value++;
    if (peer.kind === "verified") lifetime.observe((peer.validToMs - nowMs()) / 1_000);
    return user;
  };
  const fail = (reason: unknown, startedMs: number): never => {
    (reason instanceof StatusError && reason.code === 401 ? failure : failed)(startedMs);
    throw reason;
  };
  return {
    authenticate(request) {
      const startedMs = performance.now();
      let user: UserInfo | Promise<UserInfo>;
      try {
        user = authenticator.authenticate(request);
      } catch (reason) {
        return fail(reason, startedMs);
      }
      if (!(user instanceof Promise)) return succeed(user, request, startedMs);
      return user.then(
        (found) => succeed(found, request, startedMs),
        (reason: unknown) => fail(reason, startedMs),
      );
    },
  };
}
