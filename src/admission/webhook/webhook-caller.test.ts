import { expect, test } from "bun:test";
import { WebhookCallError } from "../../client/webhook/webhook-client.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { attributes } from "../testing.ts";
import { CircuitBreaker, timeoutsMax } from "./circuit-breaker.ts";
import { WebhookCaller } from "./webhook-caller.ts";
import { webhooksOf } from "./webhook-configuration.ts";

const [webhook] = webhooksOf([
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "v", uid: "u" },
    webhooks: [
      { name: "w", clientConfig: {}, admissionReviewVersions: ["v1"], sideEffects: "None", timeoutSeconds: 10 },
    ],
  } as never,
]);
if (webhook === undefined) throw new Error("there is one webhook");

/** Has as many calls time out as open a circuit, after the webhook has had so long. */
async function timeOut({ waitedMs, requestMs }: { waitedMs: number; requestMs: number | undefined }) {
  const clock = new ManualClock();
  const changes: string[] = [];
  const ended: boolean[] = [];
  const timeouts = new Set<number>();
  const caller = new WebhookCaller({
    clock,
    breaker: new CircuitBreaker(clock, (_, state) => changes.push(state)),
    clients: {
      of: () => ({
        async post({ timeoutMs }) {
          timeouts.add(timeoutMs);
          throw new WebhookCallError("context deadline exceeded", "timeout", waitedMs);
        },
      }),
    },
  });
  const deadlineMs = requestMs === undefined ? undefined : clock.steadyMs() + requestMs;
  const request = attributes("/configmaps", { deadlineMs });
  const matched = { info: request.info, kind: request.kind };
  for (let count = 0; count < timeoutsMax; count++) {
    const call = caller.ask({ webhook: webhook as never, matched }, request, {} as never, false);
    await call.catch(({ isRequestOver }) => ended.push(isRequestOver));
  }
  return { changes, timeouts: [...timeouts], endsRequest: [...new Set(ended)] };
}

test("a webhook that uses up its own time is not waited for any more", async () => {
  const outcome = { changes: ["open"], timeouts: [10_000], endsRequest: [false] };
  expect(await timeOut({ waitedMs: 10_000, requestMs: undefined })).toEqual(outcome);
});

test("requests with little time of their own say nothing about the webhook", async () => {
  expect(await timeOut({ waitedMs: 100, requestMs: 100 })).toEqual({
    changes: [],
    timeouts: [100],
    endsRequest: [true],
  });
});

test("the wait for a place among the running calls is not held against the webhook", async () => {
  const outcome = { changes: [], timeouts: [10_000], endsRequest: [false] };
  expect(await timeOut({ waitedMs: 4_000, requestMs: undefined })).toEqual(outcome);
});
