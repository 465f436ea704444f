import type { Registry } from "prom-client";
import { StatusError } from "../../api/status.ts";
import type { RequestAuthenticator } from "../../access/authentication/authenticator.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { BoundCounter, type CounterChild } from "./bound-metric.ts";

/** The only user names that may be labels. Other names are unbounded, and private. */
const labelledNames = [
  "admin",
  "client",
  "kube_proxy",
  "kubelet",
  "system:serviceaccount:kube-system:default",
] as const;

/** Wraps an authenticator, and counts its answers by result and kind of user, under upstream's names. */
export function countAuthentications(authenticator: RequestAuthenticator, registry: Registry): RequestAuthenticator {
  const attempts = new BoundCounter("authentication_attempts", "Authenticated attempts, by their result.");
  attempts.register(registry);
  const success = attempts.labels({ result: "success" });
  const failure = attempts.labels({ result: "failure" });
  const error = attempts.labels({ result: "error" });
  const users = new BoundCounter(
    "authenticated_user_requests",
    "Authenticated requests, by a few kinds of user names.",
  );
  users.register(registry);
  const named = new Map<string, CounterChild>(labelledNames.map((username) => [username, users.labels({ username })]));
  const email = users.labels({ username: "email_id" });
  const other = users.labels({ username: "other" });

  const succeed = (user: UserInfo): UserInfo => {
    success.value++;
    (named.get(user.name) ?? (user.name.includes("@") ? email : other)).value++;
    return user;
  };
  const fail = (reason: unknown): never => {
    (reason instanceof StatusError && reason.code === 401 ? failure : error).value++;
    throw reason;
  };
  return {
    authenticate(request) {
      let user: UserInfo | Promise<UserInfo>;
      try {
        user = authenticator.authenticate(request);
      } catch (reason) {
        return fail(reason);
      }
      return user instanceof Promise ? user.then(succeed, fail) : succeed(user);
    },
  };
}
