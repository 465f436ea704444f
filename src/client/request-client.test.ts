import { expect, test } from "bun:test";
import { StatusError, status } from "../api/status.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import type { ResourceType } from "./client.ts";
import { RequestClient } from "./request-client.ts";
import { NoAnswerError, type TransportAnswer, type TransportRequest } from "./transport.ts";

const widgets: ResourceType = { group: "example.com", version: "v1", resource: "widgets" };

/** A client whose every request gets the same answer; undefined: none at all. */
function clientOf(answer: { code?: number; text: string; retryAfterSeconds?: number } | undefined) {
  const clock = new ManualClock();
  const asked: TransportRequest[] = [];
  const send = (request: TransportRequest): Promise<TransportAnswer> => {
    asked.push(request);
    if (answer === undefined) {
      return new Promise((_, reject) =>
        request.signal.addEventListener("abort", () => reject(new Error("the stream was closed"))),
      );
    }
    const { code = 200, text, retryAfterSeconds } = answer;
    return Promise.resolve({ code, retryAfterSeconds, body: bodyOf(text) });
  };
  const transport = { send, [Symbol.dispose]() {} };
  return { asked, clock, client: new RequestClient({ transport, clock, userAgent: "tester/1" }) };
}

async function* bodyOf(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}

const caught = (work: Promise<unknown>) => work.catch((error: unknown) => error);

test("apply is a patch of its own media type, with a manager and perhaps by force", async () => {
  const { asked, client } = clientOf({ text: "{}" });
  const document = { spec: { size: 1 } };
  const of = { namespace: "n", name: "a" };
  await client.patch(widgets, of, { kind: "apply", document, force: true }, { fieldManager: "me" });
  const [{ method, target, headers, body } = {}] = asked as [TransportRequest];
  expect([method, target]).toEqual(["PATCH", "/apis/example.com/v1/namespaces/n/widgets/a?fieldManager=me&force=true"]);
  expect(headers).toEqual({
    accept: "application/json",
    "content-type": "application/apply-patch+yaml",
    "user-agent": "tester/1",
  });
  expect(Buffer.from(body ?? []).toString()).toBe(`{"spec":{"size":1}}`);
});

test("an error that is not a Status becomes one", async () => {
  const { client } = clientOf({ code: 503, text: "<h1>come back later</h1>\n", retryAfterSeconds: 3 });
  const error = await caught(client.get(widgets, { name: "a" }));
  expect(error).toBeInstanceOf(StatusError);
  expect((error as StatusError).status).toMatchObject({
    code: 503,
    reason: "ServiceUnavailable",
    message: "<h1>come back later</h1>",
    details: { retryAfterSeconds: 3 },
  });
});

test("a success without JSON is not an answer", async () => {
  const { client } = clientOf({ text: "<h1>welcome</h1>" });
  expect(await caught(client.get(widgets, { name: "a" }))).toBeInstanceOf(NoAnswerError);
});

test("an ERROR event of a watch is thrown", async () => {
  const { status: expired } = status.expired("too old");
  const { client } = clientOf({ text: `${JSON.stringify({ type: "ERROR", object: expired })}\n` });
  expect(await caught(client.watch(widgets).next())).toEqual(new StatusError(expired));
});

test("a request without an answer ends when its time is up", async () => {
  const { client, clock } = clientOf(undefined);
  const error = caught(client.get(widgets, { name: "a" }, { timeoutMs: 2_000 }));
  clock.advance(2_000);
  expect(await error).toEqual(new NoAnswerError("there was no answer within 2 s"));
  expect(clock.timers).toBe(0);
});
