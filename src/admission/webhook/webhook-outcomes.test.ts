import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { attributes } from "../testing.ts";
import { CallingWebhookError } from "./webhook-error.ts";
import { type WebhookDispatch, WebhookOutcomes } from "./webhook-outcomes.ts";

/** Settles a call that failed, to a webhook whose failures are ignored, with a millisecond left for the request. */
async function settle(failure: ConstructorParameters<typeof CallingWebhookError>[2]) {
  const clock = new ManualClock();
  const failedOpen: string[] = [];
  const observer = { called() {}, rejected() {}, failedOpen: (name: string) => failedOpen.push(name) };
  const outcomes = new WebhookOutcomes("validating", { clock, observer } as unknown as WebhookDispatch);
  const webhook = { name: "w", configuration: "c", ignoresFailures: true };
  const call = { webhook, round: 0, index: 0 } as Parameters<typeof outcomes.settle>[1];
  const request = attributes("/configmaps", { deadlineMs: clock.steadyMs() + 1 });
  const outcome = outcomes.settle(request, call, () => Promise.reject(new CallingWebhookError("w", "late", failure)));
  const code = await outcome.then(
    () => undefined,
    ({ code }) => code,
  );
  return { code, failedOpen };
}

test("an ignored failure lets the request go on", async () => {
  expect(await settle({ reason: "timeout" })).toEqual({ code: undefined, failedOpen: ["w"] });
});

test("a call that used up the request's time ends it, also if its timer fired before the deadline", async () => {
  expect(await settle({ reason: "timeout", isRequestOver: true })).toEqual({ code: 504, failedOpen: ["w"] });
});
